-- List sessions of a user, newest first by creation.
-- The next page starts after p_before_id.
-- Raises  RC001 unknown p_before_id, RC003 unknown status or bad limit.
create or replace function recall.list_sessions(
    p_user_id   uuid,
    p_status    text    default null,
    p_limit     integer default 50,
    p_before_id uuid    default null
)
returns setof recall.session_row
language plpgsql
stable
parallel safe
security definer
set search_path to pg_catalog, recall, pg_temp
set plan_cache_mode = force_generic_plan
as $function$
declare
    v_before timestamptz := timestamptz 'infinity';
begin
    perform recall._check_user(p_user_id);
    perform recall._check_limit(p_limit);
    if p_status is not null and p_status <> all (enum_range(null::recall.session_status)::text[])
    then
        raise exception using
            errcode = 'RC003',
            message = format('p_status is %L', left(p_status, 80)),
            hint    = 'One of active, paused, closed, expired; NULL for all.';
    end if;

    if p_before_id is not null then
        select s.created_at
          into v_before
          from recall.sessions as s
         where s.user_id    = p_user_id
           and s.session_id = p_before_id;
        if not found then
            perform recall._unknown_session(p_before_id);
        end if;
    end if;

    return query
    select c.*
      from recall.sessions as s
     cross join lateral recall._session_columns(row(s.*), (
               select p.content
                 from recall.system_prompts as p
                where p.prompt_hash = s.system_prompt_hash
                limit 1)) as c
     where s.user_id = p_user_id
       and (s.created_at, s.session_id)
           < (v_before, coalesce(p_before_id, 'ffffffff-ffff-ffff-ffff-ffffffffffff'))
       and (p_status is null or s.status = p_status::recall.session_status)
     order by s.created_at desc, s.session_id desc
     limit p_limit;
end;
$function$;

comment on function recall.list_sessions(uuid, text, integer, uuid) is
    'The user''s sessions, newest first by creation; the next page starts after p_before_id. '
    'RC001: p_before_id does not exist. RC003: an unknown status, or a bad limit.';
