-- Run batches of a task until nothing is due or p_until has passed; store and return the outcome.
-- A failure undoes its own batch and is returned: raising it would undo the stored outcome. The
-- outcome, which health() shows, quotes no user data.
-- Locks   none: the caller has locked the task's row, so that it never runs twice at a time.
create or replace function recall._run_task(
    p_task  recall.maintenance_tasks,
    p_until timestamptz,
    p_by    text
)
returns jsonb
language plpgsql
volatile
parallel unsafe
set search_path to pg_catalog, recall, pg_temp
set lock_timeout = '2s'
as $function$
declare
    v_start   timestamptz := clock_timestamp();
    v_task    recall.maintenance_tasks;
    v_batch   integer;
    v_more    boolean;
    v_waits   boolean     := false;
    v_done    integer     := 0;
    v_context text;
    v_at      uuid        := coalesce(p_task.last_user, (p_task.position ->> 'after')::uuid,
                                      (p_task.position ->> 'user_id')::uuid);
    v_result  jsonb       := '{}'::jsonb;
begin
    -- forget_user skips a locked row, so the position may name an erased user.
    update recall.maintenance_tasks as t
       set last_user = null,
           position  = null
     where t.task = p_task.task
       and not exists (
               select from recall.users as u where u.user_id = v_at)
       and v_at is not null;

    loop
        select t.* into v_task from recall.maintenance_tasks as t where t.task = p_task.task;
        begin
            execute format('select done, more from recall.%I(p_limit => $1)', p_task.task)
               into v_batch, v_more
              using p_task.batch_size;
            v_done := v_done + v_batch;
        -- OTHERS excludes query_canceled. Without it a task that hits statement_timeout would stay
        -- the first one due.
        exception when query_canceled or others then
            get stacked diagnostics v_context = pg_exception_context;
            v_more   := false;
            v_result := jsonb_build_object(
                'error', recall._failure_text(sqlstate, sqlerrm, v_context),
                'sqlstate', sqlstate);
        end;
        exit when not v_more;
        -- More is due, but this batch did nothing and either moved no position or ended a walk,
        -- which resets the position: other transactions lock the due rows. Between two backfills
        -- no row need be locked. `waits` tells the caller to pause.
        if v_batch = 0 then
            select num_nonnulls(t.last_user, t.position) = 0
                   or (t.last_user, t.position)
                      is not distinct from (v_task.last_user, v_task.position)
              into v_waits
              from recall.maintenance_tasks as t
             where t.task = p_task.task;
        end if;
        exit when v_waits or clock_timestamp() >= p_until;
    end loop;

    v_result := v_result || jsonb_build_object(
        'done', v_done,
        'more', v_more,
        'ms', round(1000 * extract(epoch from clock_timestamp() - v_start)));
    if v_waits then
        v_result := v_result || '{"waits": true}';
    end if;
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
    'Run batches of one maintenance task until a time, and store the outcome.';
