-- Return the working memory of a task as an object, or the value of one key.
-- Expired values are never returned, and reading does not renew them. Task and key are masked as
-- put_working masks them.
-- Raises  RC001, RC007 on a standby.
create or replace function recall.get_working(
    p_user_id    uuid,
    p_session_id uuid,
    p_task_id    text,
    p_key        text default null
)
returns jsonb
language plpgsql
stable
parallel safe
security definer
set search_path to pg_catalog, recall, pg_temp
set plan_cache_mode = force_generic_plan
as $function$
declare
    v_now      timestamptz := clock_timestamp();
    v_settings recall.settings;
begin
    perform recall._check_user(p_user_id);
    perform recall._check_primary();
    perform recall._read_session(p_user_id, p_session_id);
    v_settings := recall._settings(p_user_id);
    p_task_id  := recall._masked(p_task_id, v_settings);
    p_key      := recall._masked(p_key, v_settings);

    if p_key is not null then
        return (
            select w.value
              from recall.working_memory as w
             where w.user_id    = p_user_id
               and w.session_id = p_session_id
               and w.task_id    = p_task_id
               and w.key        = p_key
               and w.expires_at > v_now);
    end if;
    return (
        select coalesce(jsonb_object_agg(w.key, w.value), '{}')
          from recall.working_memory as w
         where w.user_id    = p_user_id
           and w.session_id = p_session_id
           and w.task_id    = p_task_id
           and w.expires_at > v_now);
end;
$function$;

comment on function recall.get_working(uuid, uuid, text, text) is
    'Working memory of a task as an object ({} when empty), or the value of one key (NULL when '
    'unknown). Expired values are left out.';
