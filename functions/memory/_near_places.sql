-- Return the positions in a batch whose memory may state the same as another one.
-- Its vector is within p_distance of an active memory's or of an earlier one in the batch. Beyond
-- 0.08 most words must be shared, too. recall._place_memory checks kinds, scopes and the guard.
create or replace function recall._near_places(
    p_user_id    uuid,
    p_contents   text[],
    p_embeddings recall.jobs.vectors%type,
    p_models     text[],
    p_distance   real
)
returns integer[]
language plpgsql
stable
parallel safe
set search_path to pg_catalog, recall, pg_temp
set plan_cache_mode = force_generic_plan
set max_parallel_workers_per_gather = 0
set enable_seqscan = off
set jit = off
as $function$
begin
    return array(
        with given as materialized (
            select g.place::integer as place, g.content, g.embedding, g.model
              from unnest(p_contents, p_embeddings, p_models)
                   with ordinality as g (content, embedding, model, place)
             where g.embedding is not null
        ), near as materialized (
            select g.place, e.memory_id, null::integer as earlier_place,
                   recall._cosine_distance(e.embedding, g.embedding) as distance
              from recall.memory_embedding as e
              join given as g
                -- Vectors of two models may differ in dimensions: CASE never compares these.
                on g.model = e.embedding_model
               and case when g.model = e.embedding_model
                        then recall._cosine_distance(e.embedding, g.embedding) <= p_distance end
             where e.user_id = p_user_id
             union all
            select later.place, null, earlier.place,
                   recall._cosine_distance(later.embedding, earlier.embedding)
              from given as earlier
              join given as later
                on later.place > earlier.place
               and case when later.model = earlier.model
                        then recall._cosine_distance(later.embedding, earlier.embedding)
                             <= p_distance end
        ), texts as materialized (
            -- each near text once; the subquery ensures that no plan reads all contents
            select t.*, recall._plain_numbers(t.content) as numbers,
                   recall._word_heads(t.content) as heads
              from (
                    select g.place, null::uuid as memory_id, g.content
                      from given as g
                     where g.place in (select n.place from near as n
                                        union select n.earlier_place from near as n)
                     union all
                    select null, i.memory_id, (select m.content
                                                 from recall.memory_store as m
                                                where m.user_id   = p_user_id
                                                  and m.memory_id = i.memory_id)
                      from (select distinct n.memory_id from near as n) as i
                     where i.memory_id is not null
                   ) as t
        )
        select distinct n.place
          from near as n
          join texts as t
            on t.place = n.place
          join texts as o
            on o.memory_id = n.memory_id or o.place = n.earlier_place
         where recall._shares_numbers(t.numbers, o.numbers)
           and (n.distance <= 0.08 or recall._shares_words(t.heads, o.heads)));
end;
$function$;

comment on function recall._near_places(uuid, text[], recall.jobs.vectors%type, text[], real) is
    'Positions in a batch whose vectors and words are near a stored memory or an earlier one.';
