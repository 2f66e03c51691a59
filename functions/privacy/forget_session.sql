-- Erase one session permanently with everything derived from it alone.
-- This covers messages (also in detached months inside the schema), annotations, search rows and
-- receipts. It also covers jobs, spans, the call log, working memory, and summaries with their
-- copies in continuing sessions. Memories without another source go with what was derived from
-- them; memories that another session confirms stay.
-- Locks   the user, the session, memories and jobs, then the unlogged tables.
--         See docs/architecture.md.
-- Raises  RC001, RC007 not in a transaction that is read committed, 55P03 another transaction
--         of the user stays open.
create or replace function recall.forget_session(
    p_user_id    uuid,
    p_session_id uuid
)
returns jsonb
language plpgsql
volatile
parallel unsafe
security definer
set search_path to pg_catalog, recall, pg_temp
as $function$
begin
    perform recall._check_user(p_user_id);
    return recall._erase_session(p_user_id, p_session_id, false);
end;
$function$;

comment on function recall.forget_session(uuid, uuid) is
    'Erase one session permanently: messages, summaries, jobs, calls, working memory, and '
    'memories that have no other source. Returns {"counts": rows deleted by table}. RC001: the '
    'session does not exist. RC007: the transaction is not read committed.';
