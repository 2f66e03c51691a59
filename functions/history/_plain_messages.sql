-- recall._plain_messages(user, session, messages, first id, ids) -> ordinal, row
-- Messages of text, as nearly all are; NULL in the place of one with a field that is not known
-- here. For lists that recall._is_plain_list lets through; recall._parse_messages knows the rest.
create or replace function recall._plain_messages(
    p_user_id    uuid,
    p_session_id uuid,
    p_messages   jsonb,
    p_first_id   uuid,
    p_ids        uuid[]
)
returns table (
    ordinal bigint,
    message recall.conversation_history
)
language sql
stable
parallel safe
begin atomic
    select e.ordinal,
           case
               when e.said - '{role,content,name,model_id,metadata}'::text[]
                           - '{token_count,latency_ms,finish_reason}'::text[] = '{}'
                   then row(
                       p_user_id, p_session_id, e.ordinal, null,
                       coalesce(p_ids[e.ordinal],
                                recall._following_uuid(p_first_id, e.ordinal - 1)),
                       e.said ->> 'role', e.said ->> 'content', null, e.said ->> 'name', null,
                       null,
                       sha256(convert_to(
                           jsonb_build_array(e.said -> 'role', e.said -> 'content', null,
                                             null)::text, 'UTF8')),
                       coalesce((e.said -> 'token_count')::integer,
                                recall._estimate_tokens(e.said ->> 'content')
                                + coalesce(recall._estimate_tokens(e.said ->> 'name'), 0)),
                       not e.said ? 'token_count', e.said ->> 'model_id',
                       e.said ->> 'finish_reason', null, null, null,
                       (e.said -> 'latency_ms')::integer, null,
                       coalesce(e.said -> 'metadata', '{}'))::recall.conversation_history
           end
      from jsonb_array_elements(p_messages) with ordinality as e (said, ordinal);
end;

comment on function recall._plain_messages(uuid, uuid, jsonb, uuid, uuid[]) is
    'Rows of conversation_history out of messages that are but text.';
