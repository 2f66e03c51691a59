-- Tell whether a user has any data.
-- All other rows of a user depend on one of these tables.
create or replace function recall._has_data(
    p_user_id uuid
)
returns boolean
language plpgsql
stable
parallel safe
set search_path to pg_catalog, recall, pg_temp
set plan_cache_mode = force_custom_plan
as $function$
begin
    return exists (select from recall.sessions as s where s.user_id = p_user_id)
        or exists (select from recall.memory_store as m where m.user_id = p_user_id)
        or exists (select from recall.jobs as j where j.user_id = p_user_id)
        or exists (select from recall.model_calls as c where c.user_id = p_user_id)
        or exists (select from recall.protocol_events as p where p.user_id = p_user_id);
end;
$function$;

comment on function recall._has_data(uuid) is
    'Whether a user has a session, a memory, a job or a model call.';
