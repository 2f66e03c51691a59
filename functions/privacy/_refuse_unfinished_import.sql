-- Refuse the commit of an import whose last piece is missing (constraint trigger).
-- Raises  RC003.
create or replace function recall._refuse_unfinished_import()
returns trigger
language plpgsql
volatile
parallel unsafe
security definer
set search_path to pg_catalog, recall, pg_temp
as $function$
begin
    if exists (select from recall.imports as i where i.user_id = new.user_id) then
        raise exception using
            errcode = 'RC003',
            message = format('the last piece of the import of user %s is missing', new.user_id),
            hint    = 'Import all pieces of recall.export_user_pieces in their order, in one '
                      'transaction.';
    end if;
    return null;
end;
$function$;

comment on function recall._refuse_unfinished_import() is
    'Trigger: refuse the commit of an import whose last piece is missing (RC003).';
