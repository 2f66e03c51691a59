-- Describe the first value of a document's rows that its column cannot hold; null when all fit.
-- The input functions of most types raise data exceptions, that of tsvector a syntax error.
create or replace function recall._wrong_import_value(
    p_table regclass,
    p_rows  jsonb
)
returns text
language plpgsql
stable
parallel unsafe
set search_path to pg_catalog, recall, pg_temp
set timezone = 'UTC'
set datestyle = 'ISO'
as $function$
declare
    v_left  constant text[] := recall._left_out(p_table);
    v_wrong text;
    v_place bigint;
    v_key   text;
    v_value jsonb;
begin
    -- Check names, nulls and the kinds of JSON values.
    select format('[%s] has a member %s, which is no column', r.place - 1, left(k.key, 80))
      into v_wrong
      from jsonb_array_elements(p_rows) with ordinality as r (item, place)
     cross join jsonb_object_keys(r.item) as k (key)
     where not exists (
               select from pg_catalog.pg_attribute as a
                where a.attrelid = p_table and a.attnum > 0 and a.attname = k.key)
     limit 1;
    if found then
        return v_wrong;
    end if;
    select format('[%s].%s is %s, not %s', r.place - 1, a.attname,
                  left(coalesce(r.item -> a.attname, 'null')::text, 80), a.kind)
      into v_wrong
      from jsonb_array_elements(p_rows) with ordinality as r (item, place)
     cross join (
            select c.attname, c.attnotnull and c.attgenerated = ''
                       and c.attname <> 'user_id' as is_needed,
                   case
                       when t.typname = 'jsonb' then 'a value'
                       when t.typcategory = 'A' then 'a list'
                       when t.typcategory = 'B' then 'true or false'
                       when t.typcategory = 'N' then 'a number'
                       else 'a text'
                   end as kind
              from pg_catalog.pg_attribute as c
              join pg_catalog.pg_type as t on t.oid = c.atttypid
             where c.attrelid = p_table
               and c.attnum > 0
               and not c.attisdropped
               and c.attname <> all (v_left)
           ) as a
     where case coalesce(jsonb_typeof(r.item -> a.attname), 'null')
               when 'null' then a.is_needed and p_table <> 'recall.users'::regclass
               when 'array' then a.kind not in ('a value', 'a list')
               when 'object' then a.kind <> 'a value'
               when 'number' then a.kind not in ('a value', 'a number')
               when 'boolean' then a.kind not in ('a value', 'true or false')
               else a.kind in ('a list', 'true or false')
           end
     limit 1;
    if found then
        return v_wrong;
    end if;

    begin
        execute format('select count(r) from jsonb_populate_recordset(null::%s, $1) as r', p_table)
          using p_rows;
    exception when data_exception or program_limit_exceeded or syntax_error then
        for v_place, v_key, v_value in
            select r.place - 1 as place, e.key, e.value
              from jsonb_array_elements(p_rows) with ordinality as r (item, place)
             cross join jsonb_each(r.item) as e
        loop
            begin
                execute format('select jsonb_populate_record(null::%s, $1)', p_table)
                  using jsonb_build_object(v_key, v_value);
            exception when data_exception or program_limit_exceeded or syntax_error then
                return format('[%s].%s is %s: %s', v_place, v_key,
                              left(v_value::text, 80), left(sqlerrm, 200));
            end;
        end loop;
        raise;
    end;

    select format('[%s].%s is %s, not a time between the years 1 and 9999', r.place - 1,
                  a.attname, left(r.item ->> a.attname, 80))
      into v_wrong
      from pg_catalog.pg_attribute as a
     cross join jsonb_array_elements(p_rows) with ordinality as r (item, place)
     where a.attrelid = p_table
       and a.attnum > 0
       and a.atttypid in ('timestamptz'::regtype, 'date'::regtype)
       and not coalesce((r.item ->> a.attname)::timestamptz
                            between '0001-01-01 00:00+00' and '9999-12-31 23:59:59.999999+00', true)
     limit 1;
    return v_wrong;
end;
$function$;

comment on function recall._wrong_import_value(regclass, jsonb) is
    'The first value of a document''s rows that its column cannot hold, with its path.';
