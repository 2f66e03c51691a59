-- Report rows of users who do not exist, such as those that a restore of one table brought back.
-- It checks at most 400 tables and 20,000 users, at random where there are more: 0.1 to 0.3 s. On
-- Citus it checks nothing, since it would read all tables.
create or replace function recall._health_orphans()
returns table (
    name   text,
    status text,
    detail text,
    hint   text
)
language plpgsql
volatile
parallel unsafe
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_all    regclass[];
    v_leaves regclass[];
    v_leaf   regclass;
    v_found  uuid[];
    v_users  uuid[] := '{}'::uuid[];
    v_tables text[] := '{}'::text[];
begin
    if recall._is_distributed() then
        return;
    end if;
    v_all    := array(select l.leaf from recall._user_leaves() as l (leaf));
    v_leaves := array(
        select l.leaf from unnest(v_all) as l (leaf) order by random() limit 400);
    foreach v_leaf in array v_leaves loop
        v_found := recall._orphaned_users(v_leaf, 20000 / cardinality(v_leaves));
        if v_found <> '{}' then
            v_users  := v_users || v_found;
            v_tables := v_tables || (
                select format('recall.%I', c.relname)
                  from pg_catalog.pg_class as c
                 where c.oid = v_leaf);
        end if;
    end loop;

    return query
    select 'orphans', case when v_users <> '{}' then 'warn' else 'ok' end,
           format('%s users who do not exist have rows%s (%s of %s tables looked at)',
                  (select count(distinct u.id) from unnest(v_users) as u (id)),
                  ' in ' || (select string_agg(t.name, ', ' order by t.name)
                               from unnest(v_tables[:5]) as t (name)),
                  cardinality(v_leaves), cardinality(v_all)),
           case when v_users <> '{}'
                then format('A restored table brings erased users back. Call '
                            'recall.replay_erasures with the list of erasures, and '
                            'recall.forget_user for others: select distinct t.user_id from %s '
                            'as t left join recall.users as u using (user_id) where u.user_id '
                            'is null;', v_tables[1]) end;
end;
$function$;

comment on function recall._health_orphans() is
    'Health of erasures: rows of users who do not exist.';
