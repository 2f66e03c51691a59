-- recall._import_rows(user, table, rows) -> how many were new
-- A row that is there already stays as it is. Of noted accesses, which have no ids, a memory's are
-- taken when it has none.
create or replace function recall._import_rows(
    p_user_id uuid,
    p_table   regclass,
    p_rows    jsonb
)
returns bigint
language plpgsql
volatile
parallel unsafe
set search_path from current
set timezone = 'UTC'
set datestyle = 'ISO'
as $function$
declare
    v_columns text;
    v_values  text;
    v_new     text := '';
    v_count   bigint;
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
                 ' where o.user_id = $1 and o.memory_id = r.memory_id)';
    end if;
    execute format('insert into %s (%s) select %s from jsonb_populate_recordset(null::%s, $2)'
                   ' with ordinality as r %s order by r.ordinality on conflict do nothing',
                   p_table, v_columns, v_values, p_table, v_new)
      using p_user_id, p_rows;
    get diagnostics v_count = row_count;
    return v_count;
end;
$function$;

comment on function recall._import_rows(uuid, regclass, jsonb) is
    'Insert the rows of a document into one table.';
