-- recall._enqueue_extraction(user, session, run_at)
-- At most one ready extraction of a session; a later call only pulls it forward.
create or replace function recall._enqueue_extraction(
    p_user_id    uuid,
    p_session_id uuid,
    p_run_at     timestamptz
)
returns void
language plpgsql
volatile
parallel unsafe
set search_path from current
as $function$
begin
    if recall._extraction_mode(p_user_id, p_session_id) <> 'none' then
        perform recall.enqueue_job(p_user_id, 'extract', p_session_id, p_session_id::text,
                                   '{}', p_run_at);
    end if;
end;
$function$;

comment on function recall._enqueue_extraction(uuid, uuid, timestamptz) is
    'Leave the extraction of a session to a worker, unless it is switched off.';
