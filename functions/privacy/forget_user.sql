-- Erase all data of a user permanently in one transaction, and return a receipt.
-- Running calls of this user finish first or fail. Afterwards the same id can be used for a new
-- user. The stored salted digest lets `replay_erasures` erase the user again after a restore. Keep
-- the receipt outside of the database; it also lists what SQL cannot reach.
-- Locks   the user, then all of their rows, then the unlogged tables. See docs/architecture.md.
-- Raises  RC007 not in a transaction that is read committed, 55P03 another transaction of
--         the user stays open.
create or replace function recall.forget_user(
    p_user_id uuid
)
returns jsonb
language plpgsql
volatile
parallel unsafe
security definer
set search_path to pg_catalog, recall, pg_temp
set timezone = 'UTC'
as $function$
declare
    v_id     uuid := recall.uuidv7();
    v_salt   bytea := uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid());
    v_counts jsonb;
    v_now    timestamptz;
begin
    perform recall._check_user(p_user_id);
    v_counts := recall._erase_user(p_user_id);

    v_now := clock_timestamp();
    insert into recall.erasures (erasure_id, salt, digest, erased_at, counts, erased_by)
    values (v_id, v_salt, sha256(v_salt || uuid_send(p_user_id)), v_now, v_counts,
            pg_current_xact_id());

    return jsonb_build_object(
        'erasure_id', v_id,
        'salt', v_salt,
        'digest', sha256(v_salt || uuid_send(p_user_id)),
        'erased_at', v_now,
        'counts', v_counts,
        'not_reached', jsonb_build_array(
            'backups and archived WAL, until they expire; after a restore call '
            || 'recall.replay_erasures',
            'replicas, until they have replayed this transaction',
            'pages of tables and indexes, until VACUUM and new rows overwrite them '
            || '(VACUUM FULL and REINDEX at once)',
            'statistics of the planner, until the next ANALYZE',
            'logs of the server and of the application, and what was sent to a model',
            'months that were detached and moved to another schema or database'));
end;
$function$;

comment on function recall.forget_user(uuid) is
    'Erase all data of a user permanently. The receipt has erasure_id, salt, digest, erased_at, '
    'the deleted rows by table, and a list of what SQL cannot reach. Keep it outside of the '
    'database for replay_erasures. RC007: the transaction is not read committed.';
