-- recall._cited_messages(user, query, embedding, settings) -> message ids and what they gain
-- Memories lead to turns: the best memories for the query lend their score to the turns they rest
-- on, inferences that nobody has confirmed too: they lead to what was really said. What a user
-- stated and is of session tier is a message kept as it stands, and leads nowhere else.
-- {"message id": score}, empty when no memory cites a turn: that is looked up first, since it takes
-- a moment and spares the search whoever has none that does.
-- A generic plan whoever calls, as of recall._search_memories.
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
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set jit = off
as $function$
begin
    if p_settings.message_memory_weight = 0 or not exists (
           select
             from recall.memory_store as m
            where m.user_id = p_user_id
              and m.ended_at is null
              and m.session_id is null
              and m.source_turn_ids <> '{}'
              and (m.tier <> 'session' or m.provenance = 'system_inferred')) then
        return '{}'::jsonb;
    end if;
    return (
        select coalesce(jsonb_object_agg(c.message_id, c.score), '{}')
          from (
                select t.message_id, max(m.score) as score
                  from recall._search_memories(
                           p_user_id, p_query, p_query_embedding, p_settings.semantic_candidates,
                           '{}', null, null, null, p_settings) as m
                 cross join lateral unnest(m.source_turn_ids) as t (message_id)
                 where m.tier <> 'session'
                    or m.provenance = 'system_inferred'
                 group by t.message_id
               ) as c);
end;
$function$;

comment on function recall._cited_messages(uuid, text, halfvec, recall.settings) is
    'Scores that the best memories for a query lend to the messages they rest on.';
