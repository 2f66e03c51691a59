-- Enqueue the extraction of a session, unless it is switched off.
-- A session has at most one ready extraction; a later call makes its run_at earlier, and gives it
-- the mode that holds now. The payload has the mode, so that a worker without a chat model can skip
-- jobs that need one.
create or replace function recall._enqueue_extraction(
    p_session recall.sessions,
    p_run_at  timestamptz
)
returns void
language plpgsql
volatile
parallel unsafe
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_mode text := recall._extraction_mode(p_session, recall._settings(p_session.user_id));
begin
    if v_mode <> 'none' and recall._enqueue_job(
           p_session.user_id, 'extract', p_session.session_id, p_session.session_id::text,
           jsonb_build_object('mode', v_mode), p_run_at) is null then
        update recall.jobs as j
           set payload = j.payload || jsonb_build_object('mode', v_mode),
               work    = null,
               vectors = null
         where j.user_id    = p_session.user_id
           and j.kind       = 'extract'
           and j.dedupe_key = p_session.session_id::text
           and j.state      = 'ready'
           and coalesce(j.payload ->> 'mode', 'llm') <> v_mode;
    end if;
end;
$function$;

comment on function recall._enqueue_extraction(recall.sessions, timestamptz) is
    'Enqueue the extraction of a session, unless it is switched off.';
