-- List sessions of a user, newest first by creation.
-- The next page starts after p_before_id.
-- Raises  RC001 unknown p_before_id, RC003 unknown status or bad limit.
create or replace function recall.list_sessions(
    p_user_id   uuid,
    p_status    text    default null,
    p_limit     integer default 50,
    p_before_id uuid    default null
)
returns table (
    session_id              uuid,
    status                  text,
    model_id                text,
    agent_id                text,
    title                   text,
    turn_count              integer,
    active_tokens           bigint,
    total_prompt_tokens     bigint,
    total_completion_tokens bigint,
    total_cost_microcents   bigint,
    created_at              timestamptz,
    updated_at              timestamptz,
    expires_at              timestamptz,
    metadata                jsonb,
    context_window_size     integer,
    max_response_tokens     integer,
    system_prompt           text,
    system_prompt_tokens    integer,
    temperature             real,
    top_p                   real,
    cost_limit_microcents   bigint,
    parent_session_id       uuid,
    user_turn_count         integer,
    compacted_through_turn  integer,
    extracted_through_turn  integer,
    last_message_at         timestamptz
)
language plpgsql
stable
parallel safe
security definer
set search_path from current
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
    select s.session_id, s.status::text, s.model_id, s.agent_id, s.title, s.turn_count,
           s.active_tokens, s.total_prompt_tokens, s.total_completion_tokens,
           s.total_cost_microcents, s.created_at, s.updated_at, s.expires_at,
           s.metadata, s.context_window_size, s.max_response_tokens, p.content,
           s.system_prompt_tokens, s.temperature, s.top_p, s.cost_limit_microcents,
           s.parent_session_id, s.user_turn_count, s.compacted_through_turn,
           s.extracted_through_turn, s.last_message_at
      from recall.sessions as s
      left join recall.system_prompts as p on p.prompt_hash = s.system_prompt_hash
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
