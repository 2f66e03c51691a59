-- Run one task, a transaction per run_maintenance, until nothing is due or its budget is spent.
-- pg_cron calls it. A procedure that commits can be neither SECURITY DEFINER nor have a SET clause,
-- so it runs with its caller's rights (the worker role's suffice) and pins the path itself, anew in
-- each transaction; variables are declared before that, by types with their schema.
-- After p_delay: pg_cron starts all jobs of a minute in the same second. When a run could do
-- nothing because somebody holds what is due, the next one comes a second later.
-- A task that hangs is ended, and its connection with it, by transaction_timeout: unlike
-- statement_timeout it can be set from inside.
-- Raises  RC003 unknown task, 2D000 inside a transaction block.
create or replace procedure recall.maintain(
    p_task  text,
    p_delay interval default '0'
)
language plpgsql
as $procedure$
declare
    v_budget pg_catalog.interval;
    v_until  pg_catalog.timestamptz;
    v_result pg_catalog.jsonb;
    v_pause  pg_catalog.float8 := extract(epoch from p_delay);
begin
    loop
        perform pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true),
                pg_catalog.set_config('recall.maintenance_by', 'pg_cron', true);
        if v_pause > 0 then
            -- by half seconds: a longer sleep would keep old row versions from being pruned
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
        if v_budget is not null then
            perform set_config(
                'transaction_timeout',
                (10000 + 2000 * extract(epoch from v_budget))::integer::text, true);
        end if;

        v_result := recall.run_maintenance(p_task);
        v_pause  := case when v_result @> '{"more": true}' and clock_timestamp() < v_until
                         then (v_result ? 'waits')::integer end;
        commit;
        exit when v_pause is null;
    end loop;
end;
$procedure$;

comment on procedure recall.maintain(text, interval) is
    'Run one maintenance task within its budget, committing after each short run; what pg_cron '
    'calls.';
