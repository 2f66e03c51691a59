-- Return {"message id": score} for the messages that the best memories for a query cite.
-- Unconfirmed inferences count, too: they lead to the real messages. User statements of tier
-- session do not, since each is a copy of one message. A first look finds users without any citing
-- memory, and spares their search. The generic plan is that of recall._search_memories.
create or replace function recall._cited_messages(
    p_user_id         uuid,
    p_query           text,
    p_query_embedding recall.memory_embedding.embedding%type,
    p_settings        recall.settings
)
returns jsonb
language plpgsql
stable
parallel safe
set search_path to pg_catalog, recall, pg_temp
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

comment on function recall._cited_messages(uuid, text, recall.memory_embedding.embedding%type,
    recall.settings) is
    'Scores that the best memories for a query lend to the messages they cite.';
