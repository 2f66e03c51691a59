-- recall._cited_messages(user, query, embedding, settings) -> message ids and what they gain
-- Memories lead to turns: the best memories for the query lend their score to the turns they rest
-- on, inferences that nobody has confirmed too: they lead to what was really said. What a user
-- stated and is of session tier is a message kept as it stands, and leads nowhere else.
-- {"message id": score}, empty when no memory cites a turn.
create or replace function recall._cited_messages(
    p_user_id         uuid,
    p_query           text,
    p_query_embedding halfvec,
    p_settings        recall.settings
)
returns jsonb
language plpgsql
stable
parallel safe
set search_path from current
as $function$
begin
    if p_settings.message_memory_weight = 0 then
        return '{}'::jsonb;
    end if;
    return (
        select coalesce(jsonb_object_agg(c.message_id, c.score), '{}')
          from (
                select t.message_id, max(m.score) as score
                  from recall._search_memories(
                           p_user_id, p_query, p_query_embedding, p_settings.semantic_candidates,
                           '{}', null, null, p_settings) as m
                 cross join lateral unnest(m.source_turn_ids) as t (message_id)
                 where m.tier <> 'session'
                    or m.provenance = 'system_inferred'
                 group by t.message_id
               ) as c);
end;
$function$;

comment on function recall._cited_messages(uuid, text, halfvec, recall.settings) is
    'Scores that the best memories for a query lend to the messages they rest on.';
