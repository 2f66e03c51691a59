-- Return messages of a session, newest first, without retracted turns.
-- Metadata includes later annotations. The statement is planned at each call for the months of the
-- session. Conditions that are not needed are constants, which the planner removes: planning one
-- costs as much as reading ten messages.
-- Raises  RC001 unknown session, RC003 bad limit.
create or replace function recall.get_messages(
    p_user_id           uuid,
    p_session_id        uuid,
    p_limit             integer default 50,
    p_before_turn       integer default null,
    p_include_compacted boolean default true
)
returns table (
    message_id        uuid,
    turn_index        integer,
    role              text,
    content           text,
    content_parts     jsonb,
    name              text,
    tool_calls        jsonb,
    tool_call_id      text,
    token_count       integer,
    created_at        timestamptz,
    metadata          jsonb,
    tokens_estimated  boolean,
    model_id          text,
    finish_reason     text,
    prompt_tokens     integer,
    completion_tokens integer,
    cost_microcents   bigint,
    latency_ms        integer,
    content_hash      bytea
)
language plpgsql
stable
parallel safe
security definer
set search_path to pg_catalog, recall, pg_temp
set plan_cache_mode = force_custom_plan
as $function$
declare
    v_session   recall.sessions;
    v_after     integer;
    v_retracted int4multirange;
    v_annotated boolean;
begin
    perform recall._check_user(p_user_id);
    perform recall._check_limit(p_limit);
    v_session   := recall._read_session(p_user_id, p_session_id);
    v_after     := case when not p_include_compacted
                        then nullif(v_session.compacted_through_turn, 0) end;
    v_retracted := nullif(v_session.retracted_turns, '{}');
    v_annotated := recall._has_annotations(p_user_id, p_session_id);

    return query
    select h.message_id, h.turn_index, h.role::text, h.content, h.content_parts, h.name,
           h.tool_calls, h.tool_call_id, h.token_count, h.created_at,
           case when v_annotated
                then recall._annotated(p_user_id, p_session_id, h.turn_index, h.metadata)
                else h.metadata end,
           h.tokens_estimated, h.model_id, h.finish_reason, h.prompt_tokens,
           h.completion_tokens, h.cost_microcents, h.latency_ms, h.content_hash
      from recall.conversation_history as h
     where h.user_id    = p_user_id
       and h.session_id = p_session_id
       and h.created_at between v_session.created_at and v_session.last_message_at
       and (p_before_turn is null or h.turn_index < p_before_turn)
       and (v_after is null or h.turn_index > v_after)
       and (v_retracted is null or not h.turn_index <@ v_retracted)
     order by h.turn_index desc
     limit p_limit;
end;
$function$;

comment on function recall.get_messages(uuid, uuid, integer, integer, boolean) is
    'Messages of a session, newest first, without retracted turns. The next page holds turns '
    'below p_before_turn. RC001: the session does not exist. RC003: a bad limit.';
