-- recall._similarities(user, embedding, memories, settings) -> cosines
-- Of chosen memories, ended ones too. In a function of its own, so that an ordinary search neither
-- reads nor locks the vectors of what has ended.
create or replace function recall._similarities(
    p_user_id    uuid,
    p_embedding  halfvec,
    p_memory_ids uuid[],
    p_settings   recall.settings
)
returns table (
    memory_id  uuid,
    similarity double precision
)
language plpgsql
stable
parallel safe
set search_path from current
as $function$
begin
    return query
    select e.memory_id, 1 - (e.embedding <=> p_embedding)
      from recall.memory_embedding as e
     where e.user_id         = p_user_id
       and e.memory_id       = any (p_memory_ids)
       and e.embedding_model = p_settings.embedding_model
     union all
    select e.memory_id, 1 - (e.embedding <=> p_embedding)
      from recall.memory_embedding_ended as e
     where e.user_id         = p_user_id
       and e.memory_id       = any (p_memory_ids)
       and e.embedding_model = p_settings.embedding_model;
end;
$function$;

comment on function recall._similarities(uuid, halfvec, uuid[], recall.settings) is
    'Cosine similarity of chosen memories, ended ones too, as far as they have vectors.';
