-- Refuse to write for a user who was erased after the snapshot of this transaction was taken.
-- For writers that lock no row, and only where a snapshot outlives a statement: locking the row
-- then fails when the erasure has deleted it, and makes an erasure wait otherwise.
-- Locks   the user, shared, unless the transaction is read committed.
-- Raises  40001.
create or replace function recall._check_snapshot(
    p_user_id uuid
)
returns void
language plpgsql
volatile
parallel unsafe
set search_path from current
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
    'In a transaction with one snapshot: fail (40001) when the user was erased since.';
