-- Report the health of logical replication into the schema.
-- A change without a partition here stops the apply worker, which restarts every few seconds. So
-- errors are counted, whether or not the worker runs at the moment. Changes of a partition outside
-- of the subscription are skipped without an error.
create or replace function recall._health_replication()
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
begin
    return query
    with subscription as (
        select s.oid, s.subname, s.subenabled,
               pg_is_in_recovery() or exists (
                   select
                     from pg_catalog.pg_stat_subscription as w
                    where w.subid = s.oid
                      and w.pid is not null
                      and w.relid is null) as is_running,
               coalesce(e.apply_error_count + e.sync_error_count, 0) as errors,
               (select count(*)
                  from pg_catalog.pg_inherits as i
                  join pg_catalog.pg_class as c on c.oid = i.inhrelid
                 where c.relnamespace = 'recall'::regnamespace
                   and c.relkind = 'r'
                   and c.relpersistence = 'p'
                   and exists (
                           select
                             from pg_catalog.pg_subscription_rel as r
                             join pg_catalog.pg_inherits as p on p.inhrelid = r.srrelid
                            where r.srsubid = s.oid
                              and p.inhparent = i.inhparent)
                   and not exists (
                           select
                             from pg_catalog.pg_subscription_rel as r
                            where r.srsubid = s.oid
                              and r.srrelid = i.inhrelid)) as skipped
          from pg_catalog.pg_subscription as s
          join pg_catalog.pg_database as d on d.oid = s.subdbid
          left join pg_catalog.pg_stat_subscription_stats as e on e.subid = s.oid
         where d.datname = current_database()
           and exists (
                   select
                     from pg_catalog.pg_subscription_rel as r
                     join pg_catalog.pg_class as c on c.oid = r.srrelid
                    where r.srsubid = s.oid
                      and c.relnamespace = 'recall'::regnamespace)
    ), judged as (
        select s.*,
               case when not s.subenabled then 'warn'
                    when not s.is_running or s.skipped > 0 then 'fail'
                    when s.errors > 0 then 'warn'
                    else 'ok' end as status
          from subscription as s
    )
    select 'subscriptions',
           case when bool_or(j.status = 'fail') then 'fail'
                when bool_or(j.status = 'warn') then 'warn'
                else 'ok' end,
           coalesce(string_agg(format('%I %s', j.subname, concat_ws(', ',
               case when not j.subenabled then 'is disabled'
                    when j.is_running then 'is running'
                    else 'is not running' end,
               case when j.errors > 0 then format('%s errors', j.errors) end,
               case when j.skipped > 0
                    then format('changes of %s partitions are skipped', j.skipped) end)), '; '
               order by j.subname), 'no subscription writes into schema recall'),
           string_agg(concat_ws(' ',
               case when j.skipped > 0
                    then format('alter subscription %I refresh publication;', j.subname) end,
               case when not j.subenabled then format('alter subscription %I enable;', j.subname)
                    when not j.is_running or j.errors > 0
                    then format('The log of this server has the errors of %I. Where a partition is '
                                'missing: select recall.ensure_partitions(); the worker then goes '
                                'on. A superuser clears the count: select '
                                'pg_stat_reset_subscription_stats(%s);', j.subname, j.oid) end),
               ' ' order by j.subname) filter (where j.status <> 'ok')
      from judged as j;
end;
$function$;

comment on function recall._health_replication() is
    'Health of logical replication into the schema: subscriptions, errors, skipped partitions.';
