-- Return the row of a maintenance task.
-- Raises  RC003 unknown task.
create or replace function recall._read_task(
    p_task text
)
returns recall.maintenance_tasks
language plpgsql
stable
parallel safe
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_task recall.maintenance_tasks;
begin
    select t.* into v_task from recall.maintenance_tasks as t where t.task = p_task;
    if not found then
        raise exception using
            errcode = 'RC003',
            message = format('unknown maintenance task %s',
                             coalesce(quote_literal(left(p_task, 80)), 'null')),
            hint    = 'Known: ' || (select string_agg(t.task, ', ' order by t.task)
                                      from recall.maintenance_tasks as t);
    end if;
    return v_task;
end;
$function$;

comment on function recall._read_task(text) is
    'Row of a maintenance task (RC003 for an unknown name).';
