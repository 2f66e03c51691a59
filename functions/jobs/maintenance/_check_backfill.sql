-- Refuse a migration while a backfill that it relies on is unfinished.
-- A migration that contracts calls it first. The installer creates this function before it runs
-- migrations; no other function of the schema exists then.
-- Raises  RC007.
create or replace function recall._check_backfill(
    p_backfill text
)
returns void
language plpgsql
stable
parallel safe
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_migration text;
    v_is_new    boolean;
begin
    select b.migration, b.registered_at = now()
      into v_migration, v_is_new
      from recall.backfills as b
     where b.backfill = p_backfill
       and b.finished_at is null;
    if found then
        raise exception using
            errcode = 'RC007',
            message = format('backfill %s of migration %s has to finish before this upgrade',
                             p_backfill, v_migration),
            hint    = case when v_is_new
                           then format('First install a release that has migration %s, but none '
                                       'after it that needs the backfill. Maintenance then '
                                       'finishes it.', v_migration)
                           else 'Let maintenance finish it (pgrecall tick); recall.health() shows '
                                'its progress.' end;
    end if;
end;
$function$;

comment on function recall._check_backfill(text) is
    'Refuse a migration while a backfill that it relies on is unfinished (RC007).';
