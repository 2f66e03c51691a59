-- Report writes and integrity: whether the server accepts writes and enforces constraints.
-- A failed REINDEX CONCURRENTLY leaves an invalid index, which enforces no uniqueness. A restore
-- without triggers leaves disabled triggers, which guard nothing.
create or replace function recall._health_integrity()
returns table (
    name   text,
    status text,
    detail text,
    hint   text
)
language plpgsql
stable
parallel safe
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_age    bigint;
    v_broken text;
    v_remedy text;
begin
    select greatest(age(d.datfrozenxid), mxid_age(d.datminmxid))
      into v_age
      from pg_catalog.pg_database as d
     where d.datname = current_database();
    return query
    select 'writes', w.status,
           case when pg_is_in_recovery() then 'a standby: reads only'
                when w.is_closed then 'default_transaction_read_only = on'
                else format('the oldest transaction id is %s million transactions old',
                            v_age / 1000000) end,
           case when w.is_closed
                then 'alter system reset default_transaction_read_only; select pg_reload_conf(); '
                     'or reset it for the role or the database.'
                when w.status <> 'ok'
                then 'Writes stop at two thousand. End old transactions (pg_stat_activity, '
                     'pg_prepared_xacts, pg_replication_slots), then: vacuum (freeze);' end
      from (
            select case when c.is_closed or v_age > 1800000000 then 'fail'
                        when v_age > 1000000000 then 'warn'
                        else 'ok' end as status,
                   c.is_closed
              from (
                    select not pg_is_in_recovery()
                           and current_setting('default_transaction_read_only')::boolean
                   ) as c (is_closed)
           ) as w;

    select string_agg(b.what, ', ' order by b.what), string_agg(b.remedy, ' ' order by b.what)
      into v_broken, v_remedy
      from (
            select format('index %I is not valid', c.relname) as what,
                   format('reindex index recall.%I;', c.relname) as remedy
              from pg_catalog.pg_index as i
              join pg_catalog.pg_class as c on c.oid = i.indexrelid
             where c.relnamespace = 'recall'::regnamespace
               and not i.indisvalid
            union all
            select format('trigger %I of %I is off', t.tgname, c.relname),
                   format('alter table recall.%I enable trigger %I;', c.relname, t.tgname)
              from pg_catalog.pg_trigger as t
              join pg_catalog.pg_class as c on c.oid = t.tgrelid
             where c.relnamespace = 'recall'::regnamespace
               and t.tgenabled = 'D'
            union all
            select format('constraint %I of %I is not validated', n.conname, c.relname),
                   format('alter table recall.%I validate constraint %I;', c.relname, n.conname)
              from pg_catalog.pg_constraint as n
              join pg_catalog.pg_class as c on c.oid = n.conrelid
             where c.relnamespace = 'recall'::regnamespace
               and not n.convalidated
            union all
            select 'missing: ' || l.names, null
              from (select recall._lost_objects()) as l (names)
             where l.names is not null
           ) as b;
    return query
    select 'integrity', case when v_broken is null then 'ok' else 'fail' end,
           coalesce(v_broken, 'all indexes, constraints and triggers are in force'),
           case when v_broken is not null
                then 'Run the installer again' || coalesce(', or: ' || v_remedy, '.') end;
end;
$function$;

comment on function recall._health_integrity() is
    'Health of writes: whether the server accepts them, and whether indexes and triggers are in '
    'force.';
