-- recall._check_primary()
-- Working memory lies in an UNLOGGED table, which a standby does not have: a statement that names
-- it is refused there when it is planned, in words about relations. This comes before.
-- Raises  RC007 on a standby.
create or replace function recall._check_primary()
returns void
language plpgsql
stable
parallel safe
set search_path from current
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
