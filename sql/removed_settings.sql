-- Drop settings that are constants now, after the functions that used them. A warning tells values
-- that differ from the constant.
do $removed$
declare
    v_setting record;
    v_value   text;
    v_names   text[];
    v_users   bigint;
    v_detail  text;
begin
    perform set_config('intervalstyle', 'postgres', true);
    for v_setting in
        select r.name, r.value, r.place
          from recall._removed_settings() as r
          join pg_catalog.pg_attribute as a
            on a.attrelid = 'recall.settings'::regclass and a.attname = r.name
               and not a.attisdropped
    loop
        execute format('select s.%I::text from recall.settings as s', v_setting.name)
           into v_value;
        if v_value <> v_setting.value then
            raise warning 'setting % was %, and is the constant % in recall.% now',
                         v_setting.name, v_value, v_setting.value, v_setting.place;
        end if;
        execute format('alter table recall.settings drop column %I', v_setting.name);
    end loop;

    v_names := array(select r.name from recall._removed_settings() as r);
    update recall.settings as s
       set configured = array(select n.name from unnest(s.configured) as n (name)
                               where n.name <> all (v_names))
     where s.configured && v_names;
    if (select s.has_overrides from recall.settings as s) then
        update recall.users as u
           set overrides = u.overrides - v_names
         where u.overrides ?| v_names;
        get diagnostics v_users = row_count;
        if v_users > 0 then
            raise warning 'overrides of % users that are constants now are dropped', v_users;
        end if;
    end if;
exception when dependent_objects_still_exist then
    get stacked diagnostics v_detail = pg_exception_detail;
    raise exception using
        errcode = 'RC007',
        message = 'other objects use settings that are constants now',
        detail  = v_detail,
        hint    = 'Drop what the detail names, upgrade, and create it without these settings.';
end;
$removed$;
