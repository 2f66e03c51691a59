-- Parse and check the filter of search_messages, once a call.
-- A key with null counts as not given. An agent's turns are those of its sessions.
-- Raises  RC003 unknown key, or a value of another type.
create or replace function recall._read_message_filter(
    p_user_id uuid,
    p_filter  jsonb
)
returns recall.message_filter
language plpgsql
stable
parallel safe
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_filter     recall.message_filter;
    v_agent_id   text;
    v_session_id uuid;
    v_metadata   jsonb;
begin
    if p_filter = '{}' then
        return v_filter;
    end if;
    perform recall._check_keys(
        p_filter, '{session_id,agent_id,since,until,roles,metadata,asked_at,dates}', 'filter');
    perform recall._filter_value(p_filter, 'asked_at', 'timestamptz');
    perform recall._filter_value(p_filter, 'dates', 'boolean');
    v_session_id   := recall._filter_value(p_filter, 'session_id', 'uuid')::uuid;
    v_agent_id     := recall._filter_value(p_filter, 'agent_id', 'text');
    v_metadata     := recall._filter_value(p_filter, 'metadata', 'jsonb')::jsonb;
    v_filter.since := recall._filter_value(p_filter, 'since', 'timestamptz')::timestamptz;
    v_filter.until := recall._filter_value(p_filter, 'until', 'timestamptz')::timestamptz;
    v_filter.roles := recall._filter_texts(
        p_filter, 'roles', enum_range(null::recall.message_role)::text[])::recall.message_role[];

    if v_session_id is not null or v_agent_id is not null then
        v_filter.session_ids := array(
            select s.session_id
              from recall.sessions as s
             where s.user_id = p_user_id
               and (v_session_id is null or s.session_id = v_session_id)
               and (v_agent_id is null or s.agent_id = v_agent_id));
    end if;
    if v_metadata is not null then
        select t.session_ids, t.turn_indexes
          into v_filter.turn_sessions, v_filter.turn_indexes
          from recall._turns_with_metadata(p_user_id, v_metadata, v_filter) as t;
    end if;
    return v_filter;
end;
$function$;

comment on function recall._read_message_filter(uuid, jsonb) is
    'A filter of search_messages, parsed and checked (RC003).';
