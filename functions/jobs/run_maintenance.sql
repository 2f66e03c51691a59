-- recall.run_maintenance(task) -> {"done": n, "more": …, "ms": n}, or with "skipped" or "error"
-- Batch after batch of one task until nothing is due or its budget is spent. It never runs beside
-- itself. A failure is noted in maintenance_tasks and returned, not raised: raising would undo
-- the note.
-- Raises  RC003 unknown task.
create or replace function recall.run_maintenance(
    p_task text
)
returns jsonb
language plpgsql
volatile
parallel unsafe
security definer
set search_path from current
as $function$
declare
    v_start  timestamptz := clock_timestamp();
    v_task   recall.maintenance_tasks;
    v_batch  integer;
    v_more   boolean;
    v_done   integer     := 0;
    v_result jsonb;
begin
    select t.* into v_task from recall.maintenance_tasks as t where t.task = p_task;
    if not found then
        raise exception using
            errcode = 'RC003',
            message = format('unknown maintenance task %s',
                             coalesce(quote_literal(p_task), 'null')),
            hint    = 'Known: ' || (select string_agg(t.task, ', ' order by t.task)
                                      from recall.maintenance_tasks as t);
    end if;
    if not pg_try_advisory_xact_lock(hashtextextended('pgrecall.' || v_task.task, 0)) then
        return jsonb_build_object('skipped', 'it runs elsewhere');
    end if;

    begin
        loop
            execute format('select done, more from recall.%I(p_limit => $1)', v_task.task)
               into v_batch, v_more
              using v_task.batch_size;
            v_done := v_done + v_batch;
            exit when not v_more or clock_timestamp() > v_start + v_task.budget;
        end loop;
        v_result := jsonb_build_object('done', v_done, 'more', v_more);
    exception when others then
        v_result := jsonb_build_object('error', sqlerrm, 'sqlstate', sqlstate);
    end;
    v_result := v_result || jsonb_build_object(
        'ms', round(1000 * extract(epoch from clock_timestamp() - v_start)));

    update recall.maintenance_tasks as t
       set last_run_at = v_start,
           last_result = v_result
     where t.task = v_task.task;
    return v_result;
end;
$function$;

comment on function recall.run_maintenance(text) is
    'Run one maintenance task within its budget; the result says done, more and ms, or the error.';
