-- Return a user's rows of one table as a JSON list in primary key order.
-- It omits the user's id, generated columns and columns without meaning in another database.
create or replace function recall._export_rows(
    p_user_id  uuid,
    p_table    regclass,
    p_left_out text[]
)
returns jsonb
language plpgsql
stable
parallel safe
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_left_out text[] := p_left_out || array['user_id'] || array(
        select a.attname::text
          from pg_catalog.pg_attribute as a
         where a.attrelid = p_table
           and a.attnum > 0
           and a.attgenerated <> '');
    v_order    text;
    v_rows     jsonb;
begin
    select string_agg(format('t.%I', a.attname), ', ' order by k.place)
      into v_order
      from pg_catalog.pg_constraint as c
     cross join unnest(c.conkey) with ordinality as k (attnum, place)
      join pg_catalog.pg_attribute as a on a.attrelid = c.conrelid and a.attnum = k.attnum
     where c.conrelid = p_table
       and c.contype = 'p';

    execute format('select coalesce(jsonb_agg(to_jsonb(t) - $2 order by %s), ''[]'')'
                   ' from %s as t where t.user_id = $1', coalesce(v_order, 't::text'), p_table)
       into v_rows
      using p_user_id, v_left_out;
    return v_rows;
end;
$function$;

comment on function recall._export_rows(uuid, regclass, text[]) is
    'A user''s rows of one table as a JSON list.';
