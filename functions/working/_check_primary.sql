-- Refuse working memory on a standby with a clear error.
-- Working memory is an UNLOGGED table, which a standby lacks. PostgreSQL would refuse the
-- statement at planning, with an error about relations.
-- Raises  RC007 on a standby.
create or replace function recall._check_primary()
returns void
language plpgsql
stable
parallel safe
set search_path to pg_catalog, recall, pg_temp
as $function$
begin
    if pg_is_in_recovery() then
        raise exception using
            errcode = 'RC007',
            message = 'a standby has no working memory',
            hint    = 'Read and write it on the primary.';
    end if;
end;
$function$;

comment on function recall._check_primary() is 'Refuse working memory on a standby (RC007).';
