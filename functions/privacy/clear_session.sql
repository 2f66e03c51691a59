-- Erase what a session holds, as forget_session does, and keep the session.
-- Its title, metadata and parameters stay, and so do its totals of tokens and cost. Turn numbers
-- continue after the erased turns. Request ids stay until receipt_ttl, so that a repeated append
-- does not store an erased message again.
-- Locks   the user, the session, memories and jobs, then the unlogged tables.
--         See docs/architecture.md.
-- Raises  RC001, RC007 not in a transaction that is read committed, 55P03 another transaction
--         of the user stays open.
create or replace function recall.clear_session(
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
    return recall._erase_session(p_user_id, p_session_id, true);
end;
$function$;

comment on function recall.clear_session(uuid, uuid) is
    'Erase what forget_session erases, and keep the session: title, metadata, parameters and '
    'totals. The next append continues its turn numbers. An erased append that is repeated with '
    'its request id stores nothing. Returns {"counts": rows deleted by table}. RC001: the session '
    'does not exist. RC007: the transaction is not read committed.';
