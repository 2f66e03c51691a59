-- Return one session of the user, or no row.
create or replace function recall.get_session(
    p_user_id    uuid,
    p_session_id uuid
)
returns setof recall.session_row
language plpgsql
stable
parallel safe
security definer
set search_path to pg_catalog, recall, pg_temp
set plan_cache_mode = force_generic_plan
as $function$
begin
    perform recall._check_user(p_user_id);

    return query
    select c.*
      from recall.sessions as s
     cross join lateral recall._session_columns(row(s.*), (
               select p.content
                 from recall.system_prompts as p
                where p.prompt_hash = s.system_prompt_hash
                limit 1)) as c
     where s.user_id    = p_user_id
       and s.session_id = p_session_id;
end;
$function$;

comment on function recall.get_session(uuid, uuid) is
    'A session of the user: status, model, counters, cost (micro-cents). No row when it does not '
    'exist.';
