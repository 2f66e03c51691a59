-- Insert the rows of a document into one table; return how many were new.
-- Existing rows stay unchanged. Accesses have no ids: one of the same memory and time exists.
-- Raises  RC003 naming the row that breaks a constraint.
create or replace function recall._import_rows(
    p_user_id uuid,
    p_table   regclass,
    p_rows    jsonb
)
returns bigint
language plpgsql
volatile
parallel unsafe
set search_path to pg_catalog, recall, pg_temp
set timezone = 'UTC'
set datestyle = 'ISO'
as $function$
declare
    v_name       constant text := (
        select c.relname from pg_catalog.pg_class as c where c.oid = p_table);
    v_columns    text;
    v_values     text;
    v_new        text := '';
    v_insert     text;
    v_message    text;
    v_constraint text;
    v_row        record;
    v_count      bigint;
begin
    select string_agg(format('%I', a.attname), ', ' order by a.attnum),
           string_agg(case when a.attname = 'user_id' then '$1' else format('r.%I', a.attname) end,
                      ', ' order by a.attnum)
      into v_columns, v_values
      from pg_catalog.pg_attribute as a
     where a.attrelid = p_table
       and a.attnum > 0
       and not a.attisdropped
       and a.attgenerated = ''
       and a.attname <> all (recall._left_out(p_table));

    if p_table = 'recall.memory_access_log'::regclass then
        v_new := 'where not exists (select from recall.memory_access_log as o'
                 ' where o.user_id = $1 and o.memory_id = r.memory_id'
                 ' and o.accessed_at = r.accessed_at)';
    end if;
    v_insert := format(
        'insert into %s (%s) select %s from jsonb_populate_recordset(null::%s, $2)'
        ' with ordinality as r %s order by r.ordinality on conflict do nothing',
        p_table, v_columns, v_values, p_table, v_new);
    begin
        execute v_insert using p_user_id, p_rows;
        get diagnostics v_count = row_count;
        return v_count;
    exception when data_exception or integrity_constraint_violation or program_limit_exceeded then
        v_message := sqlerrm;
    end;

    -- Repeat row by row, to name the failing row.
    for v_row in
        select r.item, r.place
          from jsonb_array_elements(p_rows) with ordinality as r (item, place)
    loop
        begin
            execute v_insert using p_user_id, jsonb_build_array(v_row.item);
        exception when data_exception or integrity_constraint_violation
                       or program_limit_exceeded then
            get stacked diagnostics v_constraint = constraint_name;
            select format(' (%s)', string_agg(
                       format('%s %s', a.attname, left((v_row.item -> a.attname)::text, 80)), ', '
                       order by a.attnum))
              into v_values
              from pg_catalog.pg_constraint as c
              join pg_catalog.pg_attribute as a
                on a.attrelid = c.conrelid and a.attnum = any (c.conkey)
             where c.conrelid = p_table
               and c.conname  = v_constraint;
            raise exception using
                errcode = 'RC003',
                message = format('p_document: tables.%s[%s]: %s%s', v_name, v_row.place - 1,
                                 left(sqlerrm, 200), v_values),
                hint    = 'Pass what recall.export_user returned, as it was.';
        end;
    end loop;
    raise exception using
        errcode = 'RC003',
        message = format('p_document: tables.%s: %s', v_name, left(v_message, 200)),
        hint    = 'Pass what recall.export_user returned, as it was.';
end;
$function$;

comment on function recall._import_rows(uuid, regclass, jsonb) is
    'Insert the rows of a document into one table.';
