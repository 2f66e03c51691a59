-- Delete the working memory of a task, or of all tasks of a session; return the number of values.
-- Raises  RC001, RC007 on a standby.
create or replace function recall.clear_working(
    p_user_id    uuid,
    p_session_id uuid,
    p_task_id    text default null
)
returns integer
language plpgsql
volatile
parallel unsafe
security definer
set search_path to pg_catalog, recall, pg_temp
set plan_cache_mode = force_generic_plan
as $function$
declare
    v_count integer;
begin
    perform recall._check_user(p_user_id);
    perform recall._check_primary();
    perform recall._read_session(p_user_id, p_session_id);
    p_task_id := recall._masked(p_task_id, recall._settings(p_user_id));

    delete from recall.working_memory as w
     where w.user_id    = p_user_id
       and w.session_id = p_session_id
       and (p_task_id is null or w.task_id = p_task_id);

    get diagnostics v_count = row_count;
    return v_count;
end;
$function$;

comment on function recall.clear_working(uuid, uuid, text) is
    'Delete the working memory of a task, or of all tasks of a session. Returns the number of '
    'deleted values.';
