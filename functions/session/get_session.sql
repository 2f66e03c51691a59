-- Return one session of the user, or no row.
create or replace function recall.get_session(
    p_user_id    uuid,
    p_session_id uuid
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
begin
    perform recall._check_user(p_user_id);

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
     where s.user_id    = p_user_id
       and s.session_id = p_session_id;
end;
$function$;

comment on function recall.get_session(uuid, uuid) is
    'A session of the user: status, model, counters, cost (micro-cents). No row when it does not '
    'exist.';
