-- Add the turns of an append to the counters of an active session and return the session.
-- NULLs mean that it accepts no messages. This is the only update of an append: it also sets the
-- last message time and the expiry, and locks and reads the session.
-- Locks   the session.
create or replace function recall._add_turns(
    p_user_id     uuid,
    p_session_id  uuid,
    p_turns       integer,
    p_user_turns  integer,
    p_token_count bigint,
    p_first_at    timestamptz,
    p_last_at     timestamptz,
    p_now         timestamptz,
    p_session_ttl interval,
    p_usage       recall.call_usage
)
returns recall.sessions
language plpgsql
volatile
parallel unsafe
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_session recall.sessions;
begin
    update recall.sessions as s
       set turn_count              = s.turn_count + p_turns,
           user_turn_count         = s.user_turn_count + p_user_turns,
           active_tokens           = s.active_tokens + p_token_count,
           compaction_due          = s.compaction_due
                                     or s.active_tokens + p_token_count - s.context_window_size
                                        > s.context_window_size,
           total_prompt_tokens     = s.total_prompt_tokens + coalesce(p_usage.prompt_tokens, 0),
           total_completion_tokens = s.total_completion_tokens
                                     + coalesce(p_usage.completion_tokens, 0),
           total_cost_microcents   = s.total_cost_microcents + coalesce(p_usage.cost_microcents, 0),
           created_at              = least(s.created_at, p_first_at),
           last_message_at         = greatest(s.last_message_at, p_last_at),
           updated_at              = greatest(s.last_message_at, p_now),
           expires_at              = greatest(s.expires_at, recall._session_expiry(
               p_now, coalesce(s.expires_in, p_session_ttl)))
     where s.user_id    = p_user_id
       and s.session_id = p_session_id
       and s.status     = 'active'
    returning s.* into v_session;
    return v_session;
end;
$function$;

comment on function recall._add_turns(uuid, uuid, integer, integer, bigint, timestamptz,
    timestamptz, timestamptz, interval, recall.call_usage) is
    'Add the turns of an append to the counters of an active session, and return it.';
