-- Log one event of a memory; see recall._log_events.
create or replace function recall._log_event(
    p_user_id   uuid,
    p_memory_id uuid,
    p_event     text,
    p_detail    jsonb default '{}',
    p_job_id    uuid  default null
)
returns void
language plpgsql
volatile
parallel unsafe
set search_path to pg_catalog, recall, pg_temp
as $function$
begin
    perform recall._log_events(p_user_id, array[p_memory_id], p_event, array[p_detail], p_job_id);
end;
$function$;

comment on function recall._log_event(uuid, uuid, text, jsonb, uuid) is
    'Log one event of a memory.';
