-- Store a compaction's summary; return false when the session has changed meanwhile.
-- It is a compare-and-set on the turns that were summarized: after another compaction or a
-- retraction it does nothing. Appends never wait for the model, only for this transaction.
-- Locks   the session.
create or replace function recall._finish_compact(
    p_job    recall.jobs,
    p_result jsonb
)
returns boolean
language plpgsql
volatile
parallel unsafe
set search_path to pg_catalog, recall, pg_temp
set plan_cache_mode = force_custom_plan
as $function$
declare
    v_now      timestamptz := clock_timestamp();
    v_through  constant integer := (p_result ->> 'through_turn')::integer;
    v_session  recall.sessions;
    v_tokens   bigint;
    v_purge_at timestamptz;
begin
    v_session := recall._lock_session(p_job.user_id, p_job.session_id);

    if v_through = v_session.compacted_through_turn then
        return true;
    end if;
    if (p_result ->> 'from_turn')::integer <> v_session.compacted_through_turn + 1
       or p_result ->> 'retracted' is distinct from recall._retracted_turns(
              v_session, v_session.compacted_through_turn + 1, v_through) then
        return false;
    end if;
    select coalesce(sum(h.token_count), 0)
      into v_tokens
      from recall.conversation_history as h
     where h.user_id    = p_job.user_id
       and h.session_id = p_job.session_id
       and h.created_at between v_session.created_at and v_session.last_message_at
       and h.turn_index > v_session.compacted_through_turn
       and h.turn_index <= v_through
       and not h.turn_index <@ v_session.retracted_turns;

    v_purge_at := date_add(
        v_now, (recall._settings(p_job.user_id)).message_search_retention, 'UTC');
    perform recall._write_summary(v_session, 'compaction', 1, v_through,
                                  p_result ->> 'content', p_job.vectors[1],
                                  v_tokens, p_job.work #> '{made,made_by}');
    update recall.sessions as s
       set compacted_through_turn = v_through,
           active_tokens          = s.active_tokens - v_tokens,
           compaction_due         = false,
           search_purge_at        = least(s.search_purge_at, v_purge_at),
           updated_at             = v_now
     where s.user_id    = p_job.user_id
       and s.session_id = p_job.session_id;
    perform recall._enqueue_job(p_job.user_id, 'summarize', p_job.session_id,
                                p_job.session_id::text);
    return true;
end;
$function$;

comment on function recall._finish_compact(recall.jobs, jsonb) is
    'Store a compaction''s summary and move compacted_through_turn, unless the session has changed '
    'meanwhile.';
