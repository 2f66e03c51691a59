-- Return valid messages as rows of conversation_history, with turn_index from 1.
-- created_at and model_id are NULL unless given. Fields without a column (annotations, reasoning,
-- …) go into metadata under "extra"; a refusal without content becomes a refusal part.
create or replace function recall._parse_messages(
    p_user_id          uuid,
    p_session_id       uuid,
    p_messages         jsonb,
    p_first_id         uuid,
    p_ids              uuid[],
    p_tokens_per_image integer
)
returns setof recall.conversation_history
language sql
stable
parallel safe
-- sqlfluff does not know ROWS FROM
-- noqa: disable=RF01
begin atomic
    select p_user_id,
           p_session_id,
           e.ordinal::integer,
           e.created_at,
           coalesce(p_ids[e.ordinal], recall._following_uuid(p_first_id, e.ordinal - 1)),
           e.role,
           case when jsonb_typeof(e.content) = 'string' then e.content #>> '{}'
                when e.content = '[]' then '' end,
           p.parts,
           e.name,
           nullif(e.tool_calls, '[]'),
           case when e.role = 'tool' then e.tool_call_id end,
           recall._message_hash(e.message),
           coalesce(case when nullif(e.tool_calls, '[]') is null and p.parts is not null
                              and recall._shown_parts(p.parts) is null then 0 end,
                    e.token_count,
                    recall._estimate_message_tokens(
                        case when jsonb_typeof(e.content) = 'string' then e.content #>> '{}' end,
                        p.parts, e.name, nullif(e.tool_calls, '[]'), p_tokens_per_image)),
           e.token_count is null,
           e.model_id,
           e.finish_reason,
           null::integer,
           null::integer,
           null::bigint,
           e.latency_ms,
           e.model_call_id,
           case
               when e.message
                    - '{role,content,name,tool_calls,tool_call_id,token_count,created_at,model_id,'
                      'finish_reason,latency_ms,model_call_id,metadata}'::text[] = '{}'
                   then coalesce(e.metadata, '{}')
               else coalesce(e.metadata, '{}') || recall._message_extra(e.message)
           end
      from rows from (
               jsonb_array_elements(p_messages),
               jsonb_to_recordset(p_messages) as (
                   role recall.message_role, content jsonb, name text, tool_calls jsonb,
                   tool_call_id text, token_count integer, created_at timestamptz, model_id text,
                   finish_reason text, latency_ms integer, model_call_id uuid, metadata jsonb,
                   refusal text)
           ) with ordinality as e (
               message, role, content, name, tool_calls, tool_call_id, token_count, created_at,
               model_id, finish_reason, latency_ms, model_call_id, metadata, refusal, ordinal)
     cross join lateral (
            select case
                       when jsonb_typeof(e.content) = 'array' then nullif(e.content, '[]')
                       when e.content is null and e.refusal is not null
                           then jsonb_build_array(jsonb_build_object(
                                    'type', 'refusal', 'refusal', e.refusal))
                   end
           ) as p (parts);
end;

comment on function recall._parse_messages(uuid, uuid, jsonb, uuid, uuid[], integer) is
    'Messages as rows of conversation_history, not yet numbered and dated.';
