-- recall._run_task(task, until, by) -> {"done": n, "more": …, "ms": n}, "error" and "sqlstate" when
-- a batch failed, or {"skipped": …}
-- Batches of one task until nothing is due or the time has come; it never runs beside itself. A
-- failure undoes its own batch, and is noted and returned, not raised: raising would undo the note.
-- The note, which health() shows, quotes no user.
-- So is a statement_timeout, which `others` leaves out: a task that hangs would otherwise be the
-- first one due again, for ever.
-- `more` says that another call would find work: a batch that only looked, and changed nothing, may
-- say so too, since what it looked at it does not look at again.
create or replace function recall._run_task(
    p_task  recall.maintenance_tasks,
    p_until timestamptz,
    p_by    text
)
returns jsonb
language plpgsql
volatile
parallel unsafe
set search_path from current
set lock_timeout = '2s'
as $function$
declare
    v_start   timestamptz := clock_timestamp();
    v_batch   integer;
    v_more    boolean;
    v_done    integer     := 0;
    v_context text;
    v_result  jsonb       := '{}'::jsonb;
begin
    if not pg_try_advisory_xact_lock(hashtextextended('pgrecall.' || p_task.task, 0)) then
        return jsonb_build_object('skipped', 'it runs elsewhere');
    end if;

    loop
        begin
            execute format('select done, more from recall.%I(p_limit => $1)', p_task.task)
               into v_batch, v_more
              using p_task.batch_size;
            v_done := v_done + v_batch;
        exception when query_canceled or others then
            get stacked diagnostics v_context = pg_exception_context;
            v_more   := false;
            v_result := jsonb_build_object(
                'error', recall._failure_text(sqlstate, sqlerrm, v_context),
                'sqlstate', sqlstate);
        end;
        exit when not v_more or clock_timestamp() >= p_until;
    end loop;

    v_result := v_result || jsonb_build_object(
        'done', v_done,
        'more', v_more,
        'ms', round(1000 * extract(epoch from clock_timestamp() - v_start)));
    update recall.maintenance_tasks as t
       set last_run_at = v_start,
           last_run_by = p_by,
           last_result = v_result,
           failures    = case when v_result ? 'error' then t.failures + 1 else 0 end
     where t.task = p_task.task;
    return v_result;
end;
$function$;

comment on function recall._run_task(recall.maintenance_tasks, timestamptz, text) is
    'Run batches of one maintenance task until a time, and note how it went.';
