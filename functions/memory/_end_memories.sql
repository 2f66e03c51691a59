-- End active memories of one user at once: their rows, vectors, count and audit.
-- A successor that changes the fact closes its validity (p_closes_at); one that repeats it does
-- not. The caller has locked the user.
-- Locks   the jobs (for a retraction), the memories.
-- Raises  RC007 one of them has ended already.
create or replace function recall._end_memories(
    p_user_id    uuid,
    p_memory_ids uuid[],
    p_reason     text,
    p_now        timestamptz,
    p_successor  uuid        default null,
    p_closes_at  timestamptz default null,
    p_detail     jsonb       default '{}',
    p_job_id     uuid        default null
)
returns void
language plpgsql
volatile
parallel unsafe
set search_path to pg_catalog, recall, pg_temp
set plan_cache_mode = force_generic_plan
as $function$
declare
    v_ended bigint;
begin
    if p_memory_ids = '{}' then
        return;
    end if;
    -- A model that has read the retracted text may have repeated it in the state of a job.
    if p_reason = 'retracted' then
        perform recall._discard_work(p_user_id);
    end if;

    update recall.memory_store as m
       set ended_at      = greatest(p_now, m.created_at),  -- the clock may have been set back
           end_reason    = p_reason,
           superseded_by = p_successor,
           valid_to      = case when p_closes_at is null then m.valid_to
                                else least(m.valid_to, greatest(m.valid_from, p_closes_at)) end,
           promotion_due = false,
           updated_at    = p_now
     where m.user_id   = p_user_id
       and m.memory_id = any (p_memory_ids)
       and m.end_reason is null;
    get diagnostics v_ended = row_count;
    if v_ended < cardinality(p_memory_ids) then
        raise exception using
            errcode = 'RC007',
            message = format('%s of the memories %s has ended already',
                             cardinality(p_memory_ids) - v_ended, p_memory_ids),
            hint    = 'A function wrote without the lock on the user''s row. Report this as a bug.';
    end if;

    perform recall._move_vectors(p_user_id, p_memory_ids, p_now);
    perform recall._log_events(
        p_user_id, p_memory_ids, p_reason,
        array[jsonb_build_object('by', p_successor) || coalesce(p_detail, '{}')], p_job_id,
        p_change => -cardinality(p_memory_ids));
end;
$function$;

comment on function recall._end_memories(uuid, uuid[], text, timestamptz, uuid, timestamptz, jsonb,
    uuid) is 'End active memories of one user: rows, vectors, count and audit.';
