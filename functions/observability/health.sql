-- recall.health() -> one row a promise that can go wrong, with a hint
create or replace function recall.health()
returns table (
    name   text,
    status text,
    detail text,
    hint   text
)
language plpgsql
stable
parallel safe
security definer
set search_path from current
as $function$
declare
    v_now      timestamptz := clock_timestamp();
    v_settings recall.settings;
    v_owner    name;
    v_is_super boolean;
    v_count    bigint;
    v_oldest   timestamptz;
begin
    select s.* into v_settings from recall.settings as s;

    return query
    select 'version', 'ok', format('pgrecall %s on PostgreSQL %s', recall.version(),
                                   current_setting('server_version')), null::text;

    select r.rolname, r.rolsuper
      into v_owner, v_is_super
      from pg_catalog.pg_namespace as n
      join pg_catalog.pg_roles as r on r.oid = n.nspowner
     where n.nspname = 'recall';
    return query
    select 'owner', case when v_is_super or v_owner <> 'recall_owner' then 'warn' else 'ok' end,
           format('schema recall belongs to %s%s', v_owner,
                  case when v_is_super then ', a superuser' else '' end),
           case when v_is_super or v_owner <> 'recall_owner'
                then 'Install as a role with CREATEROLE, so that recall_owner owns the schema.' end;

    select count(*)
      into v_count
      from pg_catalog.pg_roles as r
     where r.rolname in ('recall_writer', 'recall_reader', 'recall_worker', 'recall_admin');
    return query
    select 'roles', case when v_count = 4 then 'ok' else 'warn' end,
           format('%s of 4 application roles exist', v_count),
           case when v_count < 4
                then 'A role with CREATEROLE runs the installer again.' end;

    return query
    select 'search_path', case when count(*) > 0 then 'warn' else 'ok' end,
           case when count(*) > 0
                then format('anybody may create in schema %s, which the functions search',
                            string_agg(quote_ident(n.nspname), ', '))
                else 'nobody else may create in the schemas that the functions search' end,
           case when count(*) > 0
                then format('Its owner runs: revoke create on schema %s from public;',
                            string_agg(quote_ident(n.nspname), ', ')) end
      from pg_catalog.pg_namespace as n
     where n.oid = any (current_schemas(false)::regnamespace[])
       and exists (
               select
                 from aclexplode(n.nspacl) as a
                where a.grantee = 0 and a.privilege_type = 'CREATE');

    return query
    select 'partitions',
           case when v_settings.history_until is null or v_settings.history_until <= v_now
                    then 'fail'
                when v_settings.history_until
                     <= date_add(date_trunc('month', v_now, 'UTC'), interval '1 month', 'UTC')
                    then 'warn'
                else 'ok' end,
           format('months exist until %s', v_settings.history_until),
           case when v_settings.history_until is null or v_settings.history_until
                     <= date_add(date_trunc('month', v_now, 'UTC'), interval '1 month', 'UTC')
                then 'select * from recall.ensure_partitions();' end;

    select count(*), min(j.run_at)
      into v_count, v_oldest
      from recall.jobs as j
     where j.state = 'ready'
       and j.run_at <= v_now;
    return query
    select 'queue', case when v_oldest < v_now - interval '1 hour' then 'fail'
                         when v_oldest < v_now - interval '10 minutes' then 'warn'
                         else 'ok' end,
           format('%s jobs due, the oldest since %s', v_count,
                  coalesce(date_trunc('second', v_now - v_oldest)::text, 'no time')),
           case when v_oldest < v_now - interval '10 minutes'
                then 'Start a worker: pgrecall worker' end;

    select count(*), min(j.lease_until)
      into v_count, v_oldest
      from recall.jobs as j
     where j.state = 'running'
       and j.lease_until < v_now;
    return query
    select 'leases', case when v_oldest < v_now - interval '5 minutes' then 'warn' else 'ok' end,
           format('%s jobs run past their lease', v_count),
           case when v_oldest < v_now - interval '5 minutes'
                then 'select * from recall.release_expired_leases();' end;

    select count(*) into v_count from recall.jobs as j where j.state = 'dead';
    return query
    select 'dead_jobs', case when v_count > 0 then 'fail' else 'ok' end,
           format('%s jobs failed for good', v_count),
           case when v_count > 0
                then 'Read recall.jobs.last_error, then: select recall.retry_dead_jobs();' end;

    return query
    select 'maintenance',
           case when bool_or(t.last_result ? 'error') then 'fail'
                when bool_or(coalesce(t.last_run_at, u.created_at) + 3 * t.period < v_now)
                    then 'warn'
                else 'ok' end,
           coalesce(string_agg(
               format('%s: %s', t.task, coalesce(t.last_result ->> 'error', 'late')), '; '
               order by t.task)
               filter (where t.last_result ? 'error'
                          or coalesce(t.last_run_at, u.created_at) + 3 * t.period < v_now),
               format('%s tasks run in time', count(*))),
           case when bool_or(coalesce(t.last_run_at, u.created_at) + 3 * t.period < v_now)
                then 'Start a worker: pgrecall worker' end
      from recall.maintenance_tasks as t
     cross join (
            select min(m.applied_at) from recall.migrations as m
           ) as u (created_at)
     where t.enabled;

    return query
    select 'scheduler',
           case when exists (select from pg_catalog.pg_extension as e where e.extname = 'pg_cron')
                then 'ok' else 'warn' end,
           case when exists (select from pg_catalog.pg_extension as e where e.extname = 'pg_cron')
                then 'pg_cron is installed' else 'no pg_cron: the worker runs the maintenance' end,
           null::text;
end;
$function$;

comment on function recall.health() is
    'What can go wrong, each with ok, warn or fail, a detail and a remedy.';
