-- Store erasures that this database lacks: receipts of forget_user or rows of list_erasures.
-- Raises  RC003.
create or replace function recall._add_erasures(
    p_erasures jsonb
)
returns void
language plpgsql
volatile
parallel unsafe
set search_path to pg_catalog, recall, pg_temp
set timezone = 'UTC'
as $function$
begin
    if jsonb_typeof(p_erasures) <> 'array' then
        raise exception using
            errcode = 'RC003',
            message = 'p_erasures is not a JSON array',
            hint    = 'Pass a list of receipts of forget_user.';
    end if;

    insert into recall.erasures (erasure_id, salt, digest, erased_at, counts)
    select e.erasure_id, e.salt, e.digest, e.erased_at, coalesce(e.counts, '{}')
      from jsonb_populate_recordset(null::recall.erasures, p_erasures) as e
    on conflict (erasure_id) do nothing;
exception when data_exception or not_null_violation or check_violation then
    raise exception using
        errcode = 'RC003',
        message = format('p_erasures: %s', left(sqlerrm, 200)),
        hint    = 'Each element has erasure_id, salt, digest and erased_at, as in a receipt.';
end;
$function$;

comment on function recall._add_erasures(jsonb) is 'Store erasures from elsewhere.';
