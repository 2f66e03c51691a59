-- recall._log_event(user, memory, event, detail, job)
-- One line of a memory's audit.
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
set search_path from current
as $function$
declare
    v_now timestamptz := clock_timestamp();
begin
    insert into recall.memory_events (user_id, memory_id, at, event, job_id, caller, detail)
    values (p_user_id, p_memory_id, v_now, p_event, p_job_id, session_user,
            jsonb_strip_nulls(coalesce(p_detail, '{}')));
end;
$function$;

comment on function recall._log_event(uuid, uuid, text, jsonb, uuid) is
    'Write one line of a memory''s audit.';
