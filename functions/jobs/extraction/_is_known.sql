-- Tell whether an active memory has the same text as a candidate, or nearly the same.
create or replace function recall._is_known(
    p_memory    recall.memory_store,
    p_embedding recall.memory_embedding.embedding%type,
    p_settings  recall.settings
)
returns boolean
language plpgsql
stable
parallel safe
set search_path to pg_catalog, recall, pg_temp
as $function$
begin
    return exists (
        select from recall.memory_store as m
         where m.user_id      = p_memory.user_id
           and m.content_hash = p_memory.content_hash
           and m.is_active
    ) or p_embedding is not null
      and (recall._find_near_duplicate(p_memory, p_embedding, p_settings.embedding_model,
                                       p_settings.near_duplicate_distance)).memory_id is not null;
end;
$function$;

comment on function recall._is_known(recall.memory_store, recall.memory_embedding.embedding%type,
    recall.settings) is
    'Whether SQL alone settles a candidate: an active memory has the same or nearly the same text.';
