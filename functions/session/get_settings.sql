-- Return the settings of the installation, which drivers read when they connect.
create or replace function recall.get_settings()
returns jsonb
language plpgsql
stable
parallel safe
security definer
set search_path to pg_catalog, recall, pg_temp
as $function$
begin
    return (
        select to_jsonb(s) - '{singleton,configured}'::text[]
          from recall.settings as s);
end;
$function$;

comment on function recall.get_settings() is
    'The settings of the installation, as an object of column names of recall.settings.';
