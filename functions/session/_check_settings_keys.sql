-- Check the names of settings, a language and a time zone.
-- Raises  RC003 unknown or removed key, language or time zone, RC007 one that is fixed at
-- installation.
create or replace function recall._check_settings_keys(
    p_changes jsonb,
    p_what    text
)
returns void
language plpgsql
stable
parallel safe
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_fixed   constant text[] := array['singleton', 'embedding_dimensions', 'hash_partitions',
                                       'history_from', 'history_until', 'has_sealed_users',
                                       'has_overrides', 'hidden_embedding_model', 'configured',
                                       'role_prefix', 'share_roles', 'owner', 'scheduled_by',
                                       'scheduled_in'];
    v_known   text[];
    v_removed text;
    v_values  text;
begin
    if jsonb_typeof(p_changes) = 'object' and p_changes ?| v_fixed then
        raise exception using
            errcode = 'RC007',
            message = format('%s names a setting that is fixed at installation', p_what),
            hint    = array_to_string(v_fixed, ', ') || ' cannot be changed here.';
    end if;

    select string_agg(r.name, ', ' order by r.name),
           string_agg(format('%s is %s in recall.%s', r.name, r.value, r.place), ', '
                      order by r.name)
      into v_removed, v_values
      from recall._removed_settings() as r
     where jsonb_typeof(p_changes) = 'object'
       and p_changes ? r.name;
    if v_removed is not null then
        raise exception using
            errcode = 'RC003',
            message = format('%s names a setting that is a constant now: %s', p_what, v_removed),
            hint    = format('Leave it out: %s.', v_values);
    end if;

    select array_agg(a.attname::text order by a.attnum)
      into v_known
      from pg_catalog.pg_attribute as a
     where a.attrelid = 'recall.settings'::regclass
       and a.attnum > 0
       and not a.attisdropped
       and a.attname <> all (v_fixed);

    perform recall._check_keys(p_changes, v_known, p_what);
    perform recall._check_model_name(p_changes ->> 'embedding_model', 'embedding_model');
    perform recall._check_language(p_changes -> 'language');
    perform recall._check_time_zone(p_changes ->> 'time_zone', 'time_zone');
end;
$function$;

comment on function recall._check_settings_keys(jsonb, text) is
    'Reject unknown settings, languages and time zones (RC003), and settings fixed at '
    'installation (RC007).';
