-- recall._finish_compact(job, result) -> done? (false: the world moved)
-- A compare-and-set on the turn it was made from: when another compaction or a retraction came
-- first, nothing happens. Appends never wait for the model, only for this moment.
-- Locks   the session.
-- Raises  RC003.
create or replace function recall._finish_compact(
    p_job    recall.jobs,
    p_result jsonb
)
returns boolean
language plpgsql
volatile
parallel unsafe
set search_path from current
set plan_cache_mode = force_custom_plan
as $function$
declare
    v_now     timestamptz := clock_timestamp();
    v_through integer;
    v_session recall.sessions;
    v_tokens  bigint;
begin
    perform recall._check_keys(
        p_result,
        '{content,token_count,embedding,embedding_model,from_turn,through_turn,retracted}',
        'p_result');
    v_through := recall._through_turn(p_result);
    if not p_result ?& '{from_turn,retracted}' then
        raise exception using
            errcode = 'RC003',
            message = 'from_turn or retracted is missing in p_result',
            hint    = 'Give back what job_input said.';
    end if;
    v_session := recall._take_session(p_job.user_id, p_job.session_id);

    if v_through = v_session.compacted_through_turn then
        return true;
    end if;
    if recall._integer(p_result, 'from_turn')
       is distinct from v_session.compacted_through_turn + 1
       or v_through not between v_session.compacted_through_turn + 1 and v_session.turn_count
       or p_result ->> 'retracted' is distinct from recall._retracted_turns(
              v_session, v_session.compacted_through_turn + 1, v_through) then
        return false;
    end if;
    perform recall._check_exchange_end(v_session, recall._settings(p_job.user_id), v_through);

    select coalesce(sum(h.token_count), 0)
      into v_tokens
      from recall.conversation_history as h
     where h.user_id    = p_job.user_id
       and h.session_id = p_job.session_id
       and h.created_at between v_session.created_at and v_session.last_message_at
       and h.turn_index > v_session.compacted_through_turn
       and h.turn_index <= v_through
       and not h.turn_index <@ v_session.retracted_turns;

    perform recall._write_summary(v_session, 'compaction', 1, v_through, p_result, v_tokens,
                                  p_job.work #> '{made,made_by}');
    update recall.sessions as s
       set compacted_through_turn = v_through,
           active_tokens          = s.active_tokens - v_tokens,
           compaction_due         = false,
           search_purge_at        = coalesce(s.search_purge_at, v_now),
           updated_at             = v_now
     where s.user_id    = p_job.user_id
       and s.session_id = p_job.session_id;
    perform recall._enqueue_job(p_job.user_id, 'summarize', p_job.session_id,
                                p_job.session_id::text);
    return true;
end;
$function$;

comment on function recall._finish_compact(recall.jobs, jsonb) is
    'Store a compaction''s summary and move compacted_through_turn, unless the world moved.';
