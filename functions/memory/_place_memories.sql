-- Write a chunk of a batch of memories, and return one row each, in order.
-- New ones are inserted together, the rest is placed one by one. The caller has locked the user.
create or replace function recall._place_memories(
    p_memories   recall.memory_store[],
    p_embeddings recall.jobs.vectors%type,
    p_models     text[],
    p_settings   recall.settings,
    p_job_id     uuid default null
)
returns table (
    ordinal   integer,
    memory_id uuid,
    outcome   text
)
language plpgsql
volatile
parallel unsafe
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_vectors constant recall.memory_embedding.embedding%type[] := case
        when exists (select from unnest(p_embeddings) as e (embedding)
                      where e.embedding is not null) then p_embeddings
    end;
    v_plain   constant integer[] := recall._insert_plain_memories(
        p_memories, v_vectors, p_models, p_settings, p_job_id);
begin
    for v_place in 1 .. cardinality(p_memories) loop
        ordinal := v_place;
        if v_place = any (v_plain) then
            memory_id := p_memories[v_place].memory_id;
            outcome   := 'added';
        else
            select p.memory_id, p.outcome
              into _place_memories.memory_id, _place_memories.outcome
              from recall._place_memory(p_memories[v_place], v_vectors[v_place],
                                        p_models[v_place], p_settings, null, p_job_id) as p;
        end if;
        return next;
    end loop;
end;
$function$;

comment on function recall._place_memories(recall.memory_store[], recall.jobs.vectors%type, text[],
    recall.settings, uuid) is
    'Write a chunk of a batch of memories; outcomes in order.';
