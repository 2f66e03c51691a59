-- Delete history of users who keep it for less time than history_retention, in one batch.
-- drop_expired_partitions drops whole months; a shorter retention of one user needs row deletes.
-- The walk goes by user_id and session_id, and maintenance_tasks holds its last user. `position`
-- has their last session, if more follow, and whether the walk has met a lock. No index finds these
-- users, since it would cost every writer of memories a lock.
-- Locks   users and sessions, as far as they are free (others are skipped, and o_more reports
--         them); then their jobs.
create or replace function recall._purge_history(
    p_now      timestamptz,
    p_limit    integer,
    p_until    timestamptz,
    out o_done integer,
    out o_more boolean
)
language plpgsql
volatile
parallel unsafe
set search_path to pg_catalog, recall, pg_temp
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set jit = off
set max_parallel_workers_per_gather = 0
as $function$
declare
    v_looked   integer := 0;
    v_held     boolean;
    v_last     uuid;
    v_after    uuid;
    v_position jsonb;
    v_rows     integer;
    v_user_id  uuid;
    v_since    timestamptz;
    v_session  uuid;
begin
    o_done := 0;
    o_more := false;
    if not (select s.has_overrides from recall.settings as s) then
        return;
    end if;
    select coalesce(t.last_user, '00000000-0000-0000-0000-000000000000'),
           (t.position ->> 'session_id')::uuid, coalesce((t.position ->> 'held')::boolean, false)
      into v_last, v_after, v_held
      from recall.maintenance_tasks as t
     where t.task = 'purge_expired'
       for no key update skip locked;
    if not found then
        return;
    end if;

    <<users>>
    for v_user_id, v_since in
        select u.user_id, date_subtract(p_now, o.retention, 'UTC') as since
          from recall.users as u
         cross join recall.settings as s
         cross join lateral (
                select (u.overrides ->> 'history_retention')::interval
               ) as o (retention)
         where u.user_id >= v_last
           and (u.user_id > v_last or v_after is not null)
           and u.overrides ? 'history_retention'
           and o.retention < s.history_retention
         order by u.user_id
    loop
        if v_user_id > v_last then
            v_last  := v_user_id;
            v_after := '00000000-0000-0000-0000-000000000000';
        end if;
        for v_session in
            select s.session_id
              from recall.sessions as s
             where s.user_id              = v_user_id
               and s.session_id           > v_after
               and s.created_at           < v_since
               and s.first_retained_turn <= s.turn_count
               and recall._may_retire(row(s.*), s.first_retained_turn, v_since)
             order by s.session_id
        loop
            loop
                -- A session that keeps its turns is locked, too, so it counts.
                o_more := greatest(o_done, v_looked) >= p_limit
                          or clock_timestamp() >= p_until and v_looked > 0;
                exit users when o_more;
                v_rows := recall._purge_old_turns(
                    v_user_id, v_session, v_since, p_limit - o_done);
                v_looked := v_looked + 1;
                v_held   := v_held or v_rows is null;
                o_done   := o_done + coalesce(v_rows, 0);
                exit when v_rows is null or v_rows = 0;
            end loop;
            v_after := v_session;
        end loop;
        v_after := null;
    end loop;

    if o_more then
        v_position := jsonb_build_object('session_id', v_after, 'held', v_held);
    else
        v_last := null;
    end if;
    update recall.maintenance_tasks as t
       set last_user = v_last,
           position  = v_position
     where t.task = 'purge_expired'
       and (t.last_user, t.position) is distinct from (v_last, v_position);
    o_more := o_more or v_held;
end;
$function$;

comment on function recall._purge_history(timestamptz, integer, timestamptz) is
    'Delete history of users whose own history_retention is shorter than the global one, in one '
    'batch.';
