-- Move the vectors of memories that end out of the table that every search reads.
-- A custom plan locks one partition; a generic plan of the DELETE locks all of them.
create or replace function recall._move_vectors(
    p_user_id    uuid,
    p_memory_ids uuid[],
    p_ended_at   timestamptz
)
returns void
language plpgsql
volatile
parallel unsafe
set search_path to pg_catalog, recall, pg_temp
set plan_cache_mode = force_custom_plan
as $function$
begin
    with moved as (
        delete from recall.memory_embedding as e
         where e.user_id   = p_user_id
           and e.memory_id = any (p_memory_ids)
        returning e.memory_id, e.embedding_model, e.embedding
    )
    insert into recall.memory_embedding_ended (user_id, memory_id, embedding_model, embedding,
                                               ended_at)
    select p_user_id, v.memory_id, v.embedding_model, v.embedding, p_ended_at
      from moved as v;
end;
$function$;

comment on function recall._move_vectors(uuid, uuid[], timestamptz) is
    'Move the vectors of a memory that ends to memory_embedding_ended.';
