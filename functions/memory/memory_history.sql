-- Return the audit of a memory and of all its versions, oldest first.
-- Raises  RC001.
create or replace function recall.memory_history(
    p_user_id   uuid,
    p_memory_id uuid
)
returns table (
    at        timestamptz,
    event     text,
    memory_id uuid,
    job_id    uuid,
    caller    text,
    detail    jsonb
)
language plpgsql
stable
parallel safe
security definer
set search_path to pg_catalog, recall, pg_temp
set plan_cache_mode = force_generic_plan
set max_parallel_workers_per_gather = 0
as $function$
declare
    v_ids uuid[];
begin
    perform recall._check_user(p_user_id);
    perform recall._read_memory(p_user_id, p_memory_id);
    v_ids := recall._chain_ids(p_user_id, p_memory_id);

    return query
    select e.at, e.event, e.memory_id, e.job_id, e.caller,
           e.detail || coalesce(j.made_by, '{}')
      from recall.memory_events as e
      -- The event `decided` of a job, under the job's id, stores its prompts and models once.
      left join lateral (
            select jsonb_build_object('made_by', d.detail -> 'made_by')
              from recall.memory_events as d
             where d.user_id   = p_user_id
               and d.memory_id = e.job_id
               and d.event     = 'decided'
               and d.detail ? 'made_by'
               and e.event    <> 'proposed'
             limit 1
           ) as j (made_by) on true
     where e.user_id   = p_user_id
       and e.memory_id = any (v_ids)
     order by e.event_no;
end;
$function$;

comment on function recall.memory_history(uuid, uuid) is
    'Audit of a memory and its other versions, oldest first. detail.made_by: the prompts and '
    'models of the job that made the change, as [{"prompt": "extract@1", "model": "…"}].';
