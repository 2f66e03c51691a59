-- recall._parse_messages(messages, tokens_per_image) -> rows to be
-- Messages as columns. One that has a problem (recall._judge_message) must not be asked for any
-- other column. What the chat format does not know (annotations, reasoning, …) is kept in metadata
-- under "extra"; a refusal without content becomes a refusal part.
create or replace function recall._parse_messages(
    p_messages         jsonb,
    p_tokens_per_image integer
)
returns table (
    ordinal          integer,
    role             recall.message_role,
    content          text,
    content_parts    jsonb,
    name             text,
    tool_calls       jsonb,
    tool_call_id     text,
    content_hash     bytea,
    token_count      integer,
    tokens_estimated boolean,
    created_at       timestamptz,
    model_id         text,
    finish_reason    text,
    latency_ms       integer,
    model_call_id    uuid,
    metadata         jsonb,
    problem          text
)
language sql
stable
parallel safe
begin atomic
    select e.ordinal::integer,
           (e.message ->> 'role')::recall.message_role,
           c.body,
           c.parts,
           e.message ->> 'name',
           c.calls,
           case when e.message ->> 'role' = 'tool' then e.message ->> 'tool_call_id' end,
           recall._message_hash(e.message),
           coalesce((e.message ->> 'token_count')::integer,
                    recall._estimate_message_tokens(
                        c.body, c.parts, e.message ->> 'name', c.calls,
                        p_tokens_per_image)),
           e.message ->> 'token_count' is null,
           (e.message ->> 'created_at')::timestamptz,
           e.message ->> 'model_id',
           e.message ->> 'finish_reason',
           (e.message ->> 'latency_ms')::integer,
           (e.message ->> 'model_call_id')::uuid,
           coalesce(nullif(e.message -> 'metadata', 'null'), '{}') || c.extra,
           recall._judge_message(e.message)
      from jsonb_array_elements(p_messages) with ordinality as e (message, ordinal)
     cross join lateral (
            select case
                       when e.message -> 'content' = '[]' then ''
                       when jsonb_typeof(e.message -> 'content') = 'string'
                           then e.message ->> 'content'
                   end,
                   case
                       when jsonb_typeof(e.message -> 'content') = 'array'
                           then nullif(e.message -> 'content', '[]')
                       when e.message ->> 'content' is null and e.message ->> 'refusal' is not null
                           then jsonb_build_array(jsonb_build_object(
                                    'type', 'refusal', 'refusal', e.message ->> 'refusal'))
                   end,
                   nullif(nullif(e.message -> 'tool_calls', 'null'), '[]'),
                   case
                       when e.message
                            - '{role,content,name,tool_calls,tool_call_id,token_count}'::text[]
                            - '{created_at,model_id,finish_reason,latency_ms}'::text[]
                            - '{model_call_id,metadata}'::text[] = '{}'
                           then '{}'
                       else recall._message_extra(e.message)
                   end
           ) as c (body, parts, calls, extra);
end;

comment on function recall._parse_messages(jsonb, integer) is
    'Messages as columns of conversation_history, in order, and what is wrong with them.';
