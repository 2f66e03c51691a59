-- recall._enqueue_extraction(session, run_at)
-- At most one ready extraction of a session; a later call only pulls it forward. The mode travels
-- with the job, so that a worker without a model can pass by what needs one.
create or replace function recall._enqueue_extraction(
    p_session recall.sessions,
    p_run_at  timestamptz
)
returns void
language plpgsql
volatile
parallel unsafe
set search_path from current
as $function$
declare
    v_mode text := recall._extraction_mode(p_session, recall._settings(p_session.user_id));
begin
    if v_mode <> 'none' then
        perform recall._enqueue_job(
            p_session.user_id, 'extract', p_session.session_id, p_session.session_id::text,
            jsonb_build_object('mode', v_mode), p_run_at);
    end if;
end;
$function$;

comment on function recall._enqueue_extraction(recall.sessions, timestamptz) is
    'Leave the extraction of a session to a worker, unless it is switched off.';
