-- Enqueue the compaction of a flagged session, and return whether it did.
-- A session without summaries by a model, or one that has ended, needs none. The caller has locked
-- the session's row.
create or replace function recall._enqueue_compaction(
    p_session recall.sessions,
    p_run_at  timestamptz
)
returns boolean
language plpgsql
volatile
parallel unsafe
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_settings recall.settings := recall._settings(p_session.user_id);
begin
    update recall.sessions as s
       set compaction_due = false
     where s.user_id    = p_session.user_id
       and s.session_id = p_session.session_id;

    if p_session.status not in ('active', 'paused')
       or recall._summaries_mode(p_session, v_settings) <> 'llm'
       or exists (
              select from recall.jobs as j
               where j.user_id    = p_session.user_id
                 and j.kind       = 'compact'
                 and j.session_id = p_session.session_id) then
        return false;
    end if;
    return recall._enqueue_job(p_session.user_id, 'compact', p_session.session_id,
                               p_session.session_id::text, '{}', p_run_at) is not null;
end;
$function$;

comment on function recall._enqueue_compaction(recall.sessions, timestamptz) is
    'Enqueue the compaction of a flagged session.';
