-- End one memory: its row, its vectors, the user's count and the audit.
-- A successor that changes the fact closes its validity (p_closes_at); one that repeats it does
-- not. The caller has locked the user.
-- Locks   the jobs (for a retraction), the memory.
create or replace function recall._end_memory(
    p_memory    recall.memory_store,
    p_reason    text,
    p_now       timestamptz,
    p_successor uuid        default null,
    p_closes_at timestamptz default null,
    p_detail    jsonb       default '{}',
    p_job_id    uuid        default null
)
returns void
language plpgsql
volatile
parallel unsafe
set search_path from current
set plan_cache_mode = force_generic_plan
as $function$
begin
    -- A model that has read the retracted text may have repeated it in the state of a job.
    if p_reason = 'retracted' then
        perform recall._discard_work(p_memory.user_id);
    end if;

    update recall.memory_store as m
       set ended_at      = greatest(p_now, m.created_at),  -- the clock may have been set back
           end_reason    = p_reason,
           superseded_by = p_successor,
           valid_to      = case when p_closes_at is null then m.valid_to
                                else least(m.valid_to, greatest(m.valid_from, p_closes_at)) end,
           promotion_due = false,
           updated_at    = p_now
     where m.user_id   = p_memory.user_id
       and m.memory_id = p_memory.memory_id
       and m.end_reason is null;

    if not found then
        raise exception using
            errcode = 'RC007',
            message = format('memory %s has ended already', p_memory.memory_id),
            hint    = 'A function wrote without the lock on the user''s row. Report this as a bug.';
    end if;

    perform recall._move_vectors(p_memory.user_id, p_memory.memory_id, p_now);
    perform recall._log_events(
        p_memory.user_id, array[p_memory.memory_id], p_reason,
        array[jsonb_build_object('by', p_successor) || coalesce(p_detail, '{}')], p_job_id,
        p_change => -1);
end;
$function$;

comment on function recall._end_memory(recall.memory_store, text, timestamptz, uuid, timestamptz,
    jsonb, uuid) is 'End an active memory: row, vectors, count and audit.';
