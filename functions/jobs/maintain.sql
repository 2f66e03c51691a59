-- call recall.maintain(task)
-- One task, a transaction per run_maintenance, until nothing is due or its budget is spent: what
-- pg_cron calls. A procedure that commits can be neither SECURITY DEFINER nor have a SET clause,
-- so it runs with its caller's rights (recall_worker's suffice) and pins the path itself, anew in
-- each transaction; variables are declared before that, by types with their schema.
-- A task that hangs is ended, and its connection with it, by transaction_timeout: unlike
-- statement_timeout it can be set from inside.
-- Raises  RC003 unknown task, 2D000 inside a transaction block.
create or replace procedure recall.maintain(
    p_task text
)
language plpgsql
as $procedure$
declare
    v_budget pg_catalog.interval;
    v_until  pg_catalog.timestamptz;
    v_more   pg_catalog.bool;
begin
    loop
        perform pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true),
                pg_catalog.set_config('recall.maintenance_by', 'pg_cron', true);
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

        v_more := coalesce((recall.run_maintenance(p_task) ->> 'more')::boolean, false)
                  and clock_timestamp() < v_until;
        commit;
        exit when not v_more;
    end loop;
end;
$procedure$;

comment on procedure recall.maintain(text) is
    'Run one maintenance task within its budget, committing after each short run; what pg_cron '
    'calls.';
