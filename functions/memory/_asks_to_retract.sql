-- Tell whether a dispute asks to end the memory rather than to replace it.
-- The flag is in the audit, where no candidate can write it.
create or replace function recall._asks_to_retract(
    p_user_id   uuid,
    p_memory_id uuid
)
returns boolean
language plpgsql
stable
parallel safe
set search_path to pg_catalog, recall, pg_temp
set plan_cache_mode = force_custom_plan
as $function$
begin
    return exists (
        select
          from recall.memory_events as e
         where e.user_id   = p_user_id
           and e.memory_id = p_memory_id
           and e.event     = 'disputed'
           and e.detail @> '{"retracts": true}');
end;
$function$;

comment on function recall._asks_to_retract(uuid, uuid) is
    'Whether accepting a dispute ends the disputed memory without a successor.';
