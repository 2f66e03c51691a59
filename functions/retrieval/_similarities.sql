-- Compute the cosine similarities of given memories, including ended ones.
-- A separate function, which reads vectors of ended memories only when it must: a search of active
-- memories neither reads nor locks them.
create or replace function recall._similarities(
    p_user_id    uuid,
    p_embedding  recall.memory_embedding.embedding%type,
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
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_found integer;
begin
    return query
    select e.memory_id, 1 - recall._cosine_distance(e.embedding, p_embedding)
      from recall.memory_embedding as e
     where e.user_id         = p_user_id
       and e.memory_id       = any (p_memory_ids)
       and e.embedding_model = p_settings.embedding_model;
    get diagnostics v_found = row_count;
    if v_found = cardinality(p_memory_ids) or not exists (
        select
          from recall.memory_store as m
         where m.user_id   = p_user_id
           and m.memory_id = any (p_memory_ids)
           and m.end_reason is not null
    ) then
        return;
    end if;

    return query
    select e.memory_id, 1 - recall._cosine_distance(e.embedding, p_embedding)
      from recall.memory_embedding_ended as e
     where e.user_id         = p_user_id
       and e.memory_id       = any (p_memory_ids)
       and e.embedding_model = p_settings.embedding_model;
end;
$function$;

comment on function recall._similarities(uuid, recall.memory_embedding.embedding%type, uuid[],
    recall.settings) is
    'Cosine similarity of given memories that have vectors, including ended ones.';
