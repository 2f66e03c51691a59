-- Find memories with words similar to those that no memory contains, by trigrams.
-- This finds typos, names and parts of words. It compares the first 16 of these words with those of
-- 500 memories, the most important first; two words take 0.8 µs. Beside a vector, which tolerates
-- much itself, only words with the same beginning count. The weight is similarity times rarity.
create or replace function recall._similar_words(
    p_user_id    uuid,
    p_words      text[],
    p_matched    bigint[],
    p_memories   double precision,
    p_has_vector boolean
)
returns table (
    memory_id uuid,
    weight    double precision
)
language plpgsql
stable
parallel safe
rows 10
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_most       constant integer := 500;
    v_most_words constant integer := 16;
    v_threshold  constant real    := 0.3;
    v_ordinals   bigint[];
    v_beginnings text[];
    v_any        tsquery;
begin
    select array_agg(w.ordinal), array_agg(left(w.word, 3)),
           string_agg(recall._term_query(left(w.word, 3), true)::text, '|')::tsquery
      into v_ordinals, v_beginnings, v_any
      from (
            select u.word, u.ordinal
              from unnest(p_words) with ordinality as u (word, ordinal)
             where u.ordinal <> all (p_matched)
               and length(u.word) > 2
             order by u.ordinal
             limit v_most_words
           ) as w;

    return query
    with m as materialized (
        select a.memory_id, tsvector_to_array(a.search_vector) as words
          from recall.memory_store as a
         where a.user_id = p_user_id
           and a.ended_at is null
           and (not p_has_vector or a.search_vector @@ v_any)
         order by a.importance desc
         limit v_most
    ),
    said as materialized (
        select m.memory_id, u.word
          from m
         cross join unnest(m.words) as u (word)
         where not p_has_vector
            or left(u.word, 3) = any (v_beginnings)
    ),
    near as materialized (
        select v.word, w.ordinal, l.strength
          from (select distinct s.word from said as s) as v
         cross join unnest(v_ordinals) as w (ordinal)
         cross join lateral (
                select recall._word_similarity(p_words[w.ordinal], v.word)::double precision
                offset 0
               ) as l (strength)
         where l.strength >= v_threshold
    )
    select h.memory_id,
           h.strength * ln(1 + (p_memories - h.found + 0.5::double precision)
                               / (h.found + 0.5::double precision))
      from (
            select s.memory_id, max(n.strength) as strength,
                   count(*) over (partition by n.ordinal) as found
              from near as n
              join said as s on s.word = n.word
             group by s.memory_id, n.ordinal
           ) as h;
end;
$function$;

comment on function recall._similar_words(uuid, text[], bigint[], double precision, boolean)
    is
    'Memories with words similar to those that no memory contains, by trigram similarity.';
