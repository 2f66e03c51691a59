-- Import the setting overrides of a document; return the settings that apply to the import.
-- They apply to the user and to the texts of the document. Overrides that weaken the settings of
-- this database need p_allow_weaker. Settings that are constants now are left out with a notice.
-- Locks   the settings row.
-- Raises  RC003 naming the settings.
create or replace function recall._import_overrides(
    p_user_id      uuid,
    p_overrides    jsonb,
    p_allow_weaker boolean
)
returns recall.settings
language plpgsql
volatile
parallel unsafe
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_removed text[] := array(select r.name from recall._removed_settings() as r
                               where p_overrides ? r.name
                               order by r.name);
    v_weaker  text[];
begin
    if v_removed <> '{}' then
        raise notice 'p_document: overrides that are constants now are left out: %',
                     array_to_string(v_removed, ', ');
        p_overrides := p_overrides - v_removed;
    end if;
    if coalesce(p_overrides, '{}') <> '{}' then
        perform recall._check_settings_keys(p_overrides - 'embedding_dimensions',
                                            'p_document: overrides');
        v_weaker := recall._weaker_settings(recall._settings(p_user_id), p_overrides);
        if v_weaker <> '{}' and p_allow_weaker is not true then
            raise exception using
                errcode = 'RC003',
                message = format('p_document: overrides weaken the settings here: %s',
                                 (select string_agg(format('%s = %s', w.name,
                                                           left((p_overrides -> w.name)::text, 80)),
                                                    ', ' order by w.name)
                                    from unnest(v_weaker) as w (name))),
                hint    = 'With p_allow_weaker => true they are taken over, and hold for the '
                          'texts of the document too.';
        end if;
        perform recall.configure_user(p_user_id,
                                      p_overrides || recall._bounded_intervals(p_overrides));
    end if;
    return recall._settings(p_user_id);
end;
$function$;

comment on function recall._import_overrides(uuid, jsonb, boolean) is
    'Import the overrides of a document, unless they weaken the settings here (RC003).';
