-- Run one batch of the oldest unfinished backfill, user by user in key order.
-- recall._backfill_NAME changes rows of one user and returns where it continues there.
-- maintenance_tasks holds the position, and commits with the batch. A user without rows counts as
-- one row. A locked user ends the batch, and `more` reports it. done counts rows.
-- Locks   the task, then users as far as they are free, until settings.maintenance_lock_time has
--         passed; then what the backfill changes.
create or replace function recall.run_backfills(
    p_limit integer     default 1000,
    p_as_of timestamptz default null
)
returns table (done integer, more boolean)
language plpgsql
volatile
parallel unsafe
security definer
set search_path to pg_catalog, recall, pg_temp
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_bitmapscan = off
set jit = off
as $function$
declare
    v_start    timestamptz := clock_timestamp();
    v_until    timestamptz;
    v_name     text;
    v_task     recall.maintenance_tasks;
    v_after    uuid;
    v_user     uuid;
    v_position jsonb;
    v_rows     integer;
    v_looked   integer     := 0;
begin
    perform recall._check_limit(p_limit);
    perform recall._check_as_of(p_as_of);
    done := 0;
    more := false;
    select b.backfill
      into v_name
      from recall.backfills as b
     where b.finished_at is null
     order by b.migration, b.backfill
     limit 1;
    if not found then
        return next;
        return;
    end if;
    select t.*
      into v_task
      from recall.maintenance_tasks as t
     where t.task = 'run_backfills'
       for no key update skip locked;
    if not found then
        return next;
        return;
    end if;

    select v_start + s.maintenance_lock_time into v_until from recall.settings as s;
    if v_task.position ->> 'backfill' = v_name then
        v_after    := v_task.last_user;
        v_position := nullif(v_task.position -> 'at', 'null');
    end if;
    more := true;
    while v_looked < p_limit and (v_looked = 0 or clock_timestamp() < v_until) loop
        v_user := v_after;
        if v_position is null then
            select u.user_id
              into v_user
              from recall.users as u
             where u.user_id > coalesce(v_after, '00000000-0000-0000-0000-000000000000')
             order by u.user_id
             limit 1;
            more := found;
            exit when not more;
        end if;
        perform from recall.users as u
          where u.user_id = v_user
            for no key update skip locked;
        exit when not found;

        execute format('select o_done, o_position from recall.%I($1, $2, $3)',
                       '_backfill_' || v_name)
           into v_rows, v_position
          using v_user, v_position, p_limit - v_looked;
        done     := done + v_rows;
        v_looked := v_looked + greatest(v_rows, 1);
        v_after  := v_user;
    end loop;

    update recall.backfills as b
       set rows_done   = b.rows_done + done,
           started_at  = coalesce(b.started_at, v_start),
           finished_at = case when not more then clock_timestamp() end
     where b.backfill = v_name;
    update recall.maintenance_tasks as t
       set last_user = case when more then v_after end,
           position  = case when more then jsonb_build_object('backfill', v_name,
                                                              'at', v_position) end
     where t.task = 'run_backfills';
    more := exists (select from recall.backfills as b where b.finished_at is null);
    return next;
end;
$function$;

comment on function recall.run_backfills(integer, timestamptz) is
    'Run one batch of the data change that an upgrade left to maintenance, the oldest first. done '
    'counts rows; more is true while some remain. health() shows the progress.';
