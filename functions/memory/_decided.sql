-- Return the outcomes of a job's decisions, or NULL when none are applied.
-- A custom plan locks one partition; a generic plan locks every partition of the audit.
create or replace function recall._decided(
    p_user_id uuid,
    p_job_id  uuid
)
returns jsonb
language plpgsql
stable
parallel safe
set search_path to pg_catalog, recall, pg_temp
set plan_cache_mode = force_custom_plan
as $function$
begin
    return (
        select e.detail -> 'answer'
          from recall.memory_events as e
         where e.user_id   = p_user_id
           and e.memory_id = p_job_id
           and e.event     = 'decided'
         order by e.event_no
         limit 1);
end;
$function$;

comment on function recall._decided(uuid, uuid) is
    'Stored outcomes of a job''s decisions; NULL when there are none.';
