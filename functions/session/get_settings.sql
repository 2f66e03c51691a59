-- recall.get_settings() -> jsonb
-- What drivers must know before they speak: embedding model and dimensions, modes and limits.
create or replace function recall.get_settings()
returns jsonb
language plpgsql
stable
parallel safe
security definer
set search_path from current
as $function$
begin
    return (select to_jsonb(s) - '{singleton}'::text[] from recall.settings as s);
end;
$function$;

comment on function recall.get_settings() is
    'The settings for everybody, as an object of column names of recall.settings.';
