-- Write changed settings, and record their names as configured.
-- Raises  RC003 with setting, value and CHECK when it is out of range or of another type.
create or replace function recall._write_settings(
    p_settings recall.settings,
    p_changes  jsonb
)
returns void
language plpgsql
volatile
parallel unsafe
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_new     recall.settings;
    v_columns text;
    v_name    text;
    v_column  text;
begin
    v_new := jsonb_populate_record(p_settings, p_changes);
    if p_changes ? 'language' then
        v_new.language := v_new.language::regconfig::text;
    end if;

    select string_agg(format('%1$I = ($1).%1$I', k.key), ', ')
      into v_columns
      from jsonb_object_keys(p_changes) as k (key);
    if v_columns is not null then
        execute format('update recall.settings as s '
                       'set %s, configured = array(select distinct n.name '
                       'from unnest(s.configured || $2) as n (name) order by n.name)',
                       v_columns)
          using v_new, array(select k.key from jsonb_object_keys(p_changes) as k (key));
    end if;
exception
    when check_violation or not_null_violation or data_exception or undefined_object then
        get stacked diagnostics v_name = constraint_name, v_column = column_name;
        raise exception using
            errcode = 'RC003',
            message = format(
                'a setting is out of range: %s (%s)',
                recall._unfit_values(
                    'recall.settings', p_changes,
                    v_column || array(
                        select a.attname::text
                          from pg_catalog.pg_constraint as c
                          join pg_catalog.pg_attribute as a
                            on a.attrelid = c.conrelid
                           and a.attnum   = any (c.conkey)
                         where c.conrelid = 'recall.settings'::regclass
                           and c.conname  = v_name)),
                coalesce(nullif(v_name, ''), left(sqlerrm, 200))),
            hint    = 'The comment of the column in recall.settings says unit and range.';
end;
$function$;

comment on function recall._write_settings(recall.settings, jsonb) is
    'Write changed settings; RC003 when a CHECK or a type rejects one.';
