-- Return the query for the rows of one table, as JSON in primary key order.
-- Events come in the order of the chain, since each piece of an export continues it. $1 is the
-- user, $2 the columns without meaning in another database. The user's id and generated columns
-- are left out, too.
create or replace function recall._export_query(
    p_table regclass
)
returns text
language sql
stable
parallel safe
set search_path to pg_catalog, recall, pg_temp
as $function$
    select format(
        'select to_jsonb(t) - $2 - %L::text[] from %s as t where t.user_id = $1 order by %s',
        array['user_id'] || array(
            select a.attname::text
              from pg_catalog.pg_attribute as a
             where a.attrelid = p_table
               and a.attnum > 0
               and a.attgenerated <> ''),
        p_table,
        case when p_table = 'recall.memory_events'::regclass then 't.event_no' else coalesce((
            select string_agg(format('t.%I', a.attname), ', ' order by k.place)
              from pg_catalog.pg_constraint as c
             cross join unnest(c.conkey) with ordinality as k (attnum, place)
              join pg_catalog.pg_attribute as a on a.attrelid = c.conrelid and a.attnum = k.attnum
             where c.conrelid = p_table
               and c.contype  = 'p'), 't::text') end)
$function$;

comment on function recall._export_query(regclass) is
    'The query for a user''s rows of one table, as JSON.';
