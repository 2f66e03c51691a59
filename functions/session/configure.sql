-- Change settings of the installation.
-- CHECK constraints of the table validate the values.
-- Raises  RC003 unknown key or value out of range, RC007 a size fixed at installation.
create or replace function recall.configure(
    p_changes jsonb
)
returns void
language plpgsql
volatile
parallel unsafe
security definer
set search_path from current
as $function$
declare
    v_settings recall.settings;
begin
    perform recall._check_json(p_changes, 'p_changes');
    perform recall._check_settings_keys(p_changes, 'p_changes');

    select s.* into v_settings from recall.settings as s for update;
    perform recall._write_settings(v_settings, p_changes);
end;
$function$;

comment on function recall.configure(jsonb) is
    'Change settings of the installation: an object of column names of recall.settings. RC003: an '
    'unknown key, or a value out of range. RC007: a size that is fixed at installation.';
