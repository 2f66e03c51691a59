-- Import the setting overrides of a document; return the settings that apply to the import.
-- They apply to the user and to the texts of the document. Overrides that weaken the settings of
-- this database need p_allow_weaker.
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
set search_path from current
as $function$
declare
    v_weaker text[];
begin
    if coalesce(p_overrides, '{}') <> '{}' then
        perform recall._check_settings_keys(p_overrides, 'p_document: overrides');
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
        perform recall.configure_user(p_user_id, p_overrides);
    end if;
    return recall._settings(p_user_id);
end;
$function$;

comment on function recall._import_overrides(uuid, jsonb, boolean) is
    'Import the overrides of a document, unless they weaken the settings here (RC003).';
