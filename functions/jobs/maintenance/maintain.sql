-- Run one maintenance task until nothing is due or its budget is spent, committing after each call.
-- pg_cron calls it. A procedure that commits can have neither SECURITY DEFINER nor a SET clause. So
-- it runs with the caller's rights (the worker role's suffice) and sets the path per transaction.
-- Raises  RC003 unknown task, 2D000 inside a transaction block.
create or replace procedure recall.maintain(
    p_task  text,
    p_delay interval default '0'
)
language plpgsql
as $procedure$
declare
    -- PostgreSQL resolves these types before the path is set, so they name their schema.
    v_budget pg_catalog.interval;
    v_until  pg_catalog.timestamptz;
    v_result pg_catalog.jsonb;
    -- The delay keeps tasks apart: pg_cron starts all jobs of a minute in the same second.
    v_pause  pg_catalog.float8 := extract(epoch from p_delay);
begin
    loop
        perform pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true),
                pg_catalog.set_config('recall.maintenance_by', 'pg_cron', true);
        if v_pause > 0 then
            -- Sleep by half seconds: a longer sleep would keep old row versions from being pruned.
            perform pg_sleep(least(v_pause, 0.5));
            v_pause := v_pause - 0.5;
            commit;
            continue;
        end if;
        if v_until is null then
            select t.budget
              into v_budget
              from recall.list_maintenance() as t
             where t.task = p_task;
            v_until := clock_timestamp() + v_budget;
        end if;
        -- End a hanging task, and its connection. Unlike statement_timeout, transaction_timeout
        -- takes effect when the running call sets it.
        if v_budget is not null then
            perform set_config(
                'transaction_timeout',
                (10000 + 2000 * extract(epoch from v_budget))::integer::text, true);
        end if;

        v_result := recall.run_maintenance(p_task);
        -- Wait a second when other transactions lock all due rows.
        v_pause  := case when v_result @> '{"more": true}' and clock_timestamp() < v_until
                         then (v_result ? 'waits')::integer end;
        commit;
        exit when v_pause is null;
    end loop;
end;
$procedure$;

comment on procedure recall.maintain(text, interval) is
    'Run one maintenance task within its budget, committing after each short run. pg_cron calls '
    'this procedure.';
