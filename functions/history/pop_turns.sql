-- Retract the newest turns of a session, and return them newest first.
-- The lock of the session makes it atomic: concurrent calls return different turns. Compacted turns
-- are part of a summary and stay.
-- Locks   the user, the session, its jobs.
-- Raises  RC001, RC003 bad limit.
create or replace function recall.pop_turns(
    p_user_id    uuid,
    p_session_id uuid,
    p_limit      integer default 1
)
returns table (
    message_id        uuid,
    turn_index        integer,
    role              text,
    content           text,
    content_parts     jsonb,
    name              text,
    tool_calls        jsonb,
    tool_call_id      text,
    token_count       integer,
    created_at        timestamptz,
    metadata          jsonb,
    tokens_estimated  boolean,
    model_id          text,
    finish_reason     text,
    prompt_tokens     integer,
    completion_tokens integer,
    cost_microcents   bigint,
    latency_ms        integer,
    content_hash      bytea
)
language plpgsql
volatile
parallel unsafe
security definer
set search_path to pg_catalog, recall, pg_temp
set plan_cache_mode = force_custom_plan
as $function$
declare
    v_from integer;
begin
    perform recall._check_user(p_user_id);
    perform recall._check_limit(p_limit);
    perform recall._lock_user_for_update(p_user_id);
    perform recall._lock_session(p_user_id, p_session_id);

    -- A new statement, so that it sees what the transaction before it has popped.
    return query
    select m.*
      from recall.get_messages(p_user_id, p_session_id, p_limit,
                               p_include_compacted => false) as m;
    if not found then
        return;
    end if;
    select min(m.turn_index)
      into v_from
      from recall.get_messages(p_user_id, p_session_id, p_limit,
                               p_include_compacted => false) as m;
    perform recall.retract_turns(p_user_id, p_session_id, v_from);
end;
$function$;

comment on function recall.pop_turns(uuid, uuid, integer) is
    'Retract the newest p_limit turns of a session and return them as get_messages does, newest '
    'first. Concurrent calls return different turns. Compacted turns stay. RC001: the session does '
    'not exist. RC003: a bad limit.';
