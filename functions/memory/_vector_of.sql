-- Return the vector of a memory, current or ended; NULL when it has none of the model.
create or replace function recall._vector_of(
    p_user_id   uuid,
    p_memory_id uuid,
    p_model     text
)
returns recall.memory_embedding.embedding%type
language plpgsql
stable
parallel safe
set search_path to pg_catalog, recall, pg_temp
set plan_cache_mode = force_generic_plan
as $function$
begin
    return coalesce(
        (select e.embedding
           from recall.memory_embedding as e
          where e.user_id         = p_user_id
            and e.memory_id       = p_memory_id
            and e.embedding_model = p_model),
        (select e.embedding
           from recall.memory_embedding_ended as e
          where e.user_id         = p_user_id
            and e.memory_id       = p_memory_id
            and e.embedding_model = p_model));
end;
$function$;

comment on function recall._vector_of(uuid, uuid, text) is
    'A memory''s vector of a model, whether it is active or ended.';
