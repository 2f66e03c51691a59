-- Raise that another transaction has used a request id, where this one cannot see its receipt.
-- A snapshot of repeatable read is older than the receipt. In read committed it returns.
-- Raises  40001.
create or replace function recall._refuse_unseen_request(
    p_request_id uuid
)
returns void
language plpgsql
stable
parallel safe
set search_path to pg_catalog, recall, pg_temp
as $function$
begin
    if current_setting('transaction_isolation') <> 'read committed' then
        raise exception using
            errcode = '40001',
            message = format('request %s was used by another transaction meanwhile', p_request_id),
            hint    = 'Repeat the transaction.';
    end if;
end;
$function$;

comment on function recall._refuse_unseen_request(uuid) is
    'Raise 40001 where the receipt of a request id cannot be seen; return in read committed.';
