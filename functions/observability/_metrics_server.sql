-- Return the share of the server's connections in use, and the lag of its standbys.
-- Common alerts are 0.8 of the connections and 0.1 s of lag. A standby that is caught up and idle
-- has lag 0. Only members of pg_monitor see standby lag; other owners see that of replication
-- slots. On a standby it is the lag of its own replay.
create or replace function recall._metrics_server()
returns table (
    name   text,
    value  double precision,
    labels jsonb
)
language plpgsql
stable
parallel safe
set search_path to pg_catalog, recall, pg_temp
as $function$
begin
    return query
    select 'pgrecall_connection_saturation',
           sum(d.numbackends)::float8
               / (current_setting('max_connections')::integer
                  - current_setting('superuser_reserved_connections')::integer
                  - current_setting('reserved_connections')::integer),
           '{}'::jsonb
      from pg_catalog.pg_stat_database as d;

    if pg_is_in_recovery() then
        return query
        select 'pgrecall_replication_lag_seconds', l.seconds::float8, '{}'::jsonb
          from (
                select case when pg_last_wal_receive_lsn() = pg_last_wal_replay_lsn() then 0
                            else extract(epoch from clock_timestamp()
                                                    - pg_last_xact_replay_timestamp()) end
               ) as l (seconds)
         where l.seconds is not null;
        return;
    end if;
    return query
    with standbys as (
        select r.application_name,
               max(pg_wal_lsn_diff(pg_current_wal_lsn(), r.replay_lsn)) as bytes,
               max(extract(epoch from r.replay_lag)) as seconds
          from pg_catalog.pg_stat_replication as r
         where r.replay_lsn is not null
         group by r.application_name
    )
    select m.name, m.value::float8, jsonb_build_object('standby', s.application_name)
      from standbys as s
     cross join lateral (
            values ('pgrecall_replication_lag_bytes', greatest(0, s.bytes)),
                   ('pgrecall_replication_lag_seconds', coalesce(s.seconds, 0))
           ) as m (name, value)
     union all
    select 'pgrecall_replication_slot_lag_bytes',
           pg_wal_lsn_diff(pg_current_wal_lsn(),
                           coalesce(s.confirmed_flush_lsn, s.restart_lsn))::float8,
           jsonb_build_object('slot', s.slot_name)
      from pg_catalog.pg_replication_slots as s
     where s.restart_lsn is not null;
end;
$function$;

comment on function recall._metrics_server() is
    'Metrics of the server: share of its connections in use, lag of its standbys.';
