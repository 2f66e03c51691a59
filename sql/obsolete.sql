-- Drop the kept functions and triggers that this release did not create, and check foreign ones.
-- upgrade.sql has noted the position (ctid) of their catalog rows. `create or replace` writes a new
-- row, so a row at its old position is not of this release.
do $obsolete$
declare
    v_kept    constant jsonb := current_setting('recall.kept_functions')::jsonb;
    v_foreign constant jsonb := current_setting('recall.foreign_functions')::jsonb;
    v_trigger record;
    v_detail  text;
    v_names   text;
begin
    for v_trigger in
        select t.tgname as name, t.tgrelid::regclass as table_name
          from jsonb_each_text(current_setting('recall.kept_triggers')::jsonb) as k
          join pg_catalog.pg_trigger as t on t.oid = k.key::oid and t.ctid = k.value::tid
    loop
        execute format('drop trigger %I on %s', v_trigger.name, v_trigger.table_name);
    end loop;

    select string_agg(p.oid::regprocedure::text, ', ')
      into v_names
      from jsonb_each_text(v_kept) as k
      join pg_catalog.pg_proc as p on p.oid = k.key::oid and p.ctid = k.value::tid;
    if v_names is not null then
        execute 'drop routine ' || v_names;
    end if;

    select min(p.oid::regprocedure::text)
      into v_names
      from jsonb_each_text(v_foreign) as f
      join pg_catalog.pg_proc as p on p.oid = f.key::oid and p.ctid <> f.value::tid;
    if v_names is not null then
        raise exception using
            errcode = 'RC007',
            message = format('a function recall.%s exists that is not pgrecall''s',
                             replace(v_names, 'recall.', '')),
            hint    = 'This release has a function of that name: rename yours, or move it to '
                      'another schema.';
    end if;
exception when dependent_objects_still_exist then
    get stacked diagnostics v_detail = pg_exception_detail;
    raise exception using
        errcode = 'RC007',
        message = 'other objects use functions that this release does not have',
        detail  = v_detail,
        hint    = 'Drop what the detail names, upgrade, and create it with what replaces the '
                  'functions.';
end;
$obsolete$;
