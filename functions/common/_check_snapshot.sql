-- Reject writes for a user who was erased after this transaction took its snapshot.
-- For writers that lock no row, and only where a snapshot outlives a statement. The lock on the row
-- fails if an erasure has deleted it; otherwise an erasure waits.
-- Locks   the user, shared, unless the transaction is read committed.
-- Raises  40001.
create or replace function recall._check_snapshot(
    p_user_id uuid
)
returns void
language plpgsql
volatile
parallel unsafe
set search_path to pg_catalog, recall, pg_temp
set plan_cache_mode = force_custom_plan
as $function$
begin
    if current_setting('transaction_isolation') in ('repeatable read', 'serializable') then
        perform from recall.users as u
          where u.user_id = p_user_id
            for key share;
    end if;
end;
$function$;

comment on function recall._check_snapshot(uuid) is
    'In a transaction with one snapshot: fail (40001) if the user was erased since.';
