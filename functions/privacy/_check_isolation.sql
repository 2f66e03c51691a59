-- Reject a transaction that is not read committed.
-- An erasure waits for writers and must then see what they committed.
-- Raises  RC007.
create or replace function recall._check_isolation()
returns void
language plpgsql
stable
parallel safe
set search_path to pg_catalog, recall, pg_temp
as $function$
begin
    if current_setting('transaction_isolation') not in ('read committed', 'read uncommitted') then
        raise exception using
            errcode = 'RC007',
            message = format('this transaction is %s', current_setting('transaction_isolation')),
            hint    = 'Use the isolation level read committed, which is the default.';
    end if;
end;
$function$;

comment on function recall._check_isolation() is
    'Reject a transaction whose snapshot would hide new commits of others (RC007).';
