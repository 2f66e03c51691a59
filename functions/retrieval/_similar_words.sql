-- recall._similar_words(…) -> memories with a word like one that no memory has
-- Typos, names, parts of words, by trigrams. Comparing takes its time, so never more memories than
-- settings.trigram_rows are looked at, the most important first; and beside a vector search, which
-- forgives much by itself, only words with the same beginning.
create or replace function recall._similar_words(
    p_user_id      uuid,
    p_words        text[],
    p_matched      bigint[],
    p_has_vector   boolean,
    p_filter       recall.memory_filter,
    p_settings     recall.settings
)
returns table (
    memory_id uuid,
    ordinal   bigint,
    strength  double precision
)
language plpgsql
stable
parallel safe
rows 10
set search_path from current
as $function$
declare
    v_beginnings tsquery;
begin
    if p_has_vector then
        select string_agg(recall._term_query(left(w.word, 2), true)::text, '|')::tsquery
          into v_beginnings
          from unnest(p_words) with ordinality as w (word, ordinal)
         where w.ordinal <> all (p_matched);
    end if;

    return query
    with m as materialized (
        select a.memory_id, tsvector_to_array(a.search_vector) as words
          from recall.memory_store as a
         where a.user_id = p_user_id
           and a.ended_at is null
           and (not p_has_vector or a.search_vector @@ v_beginnings)
           and recall._memory_matches(a, p_filter)
         order by a.importance desc, a.memory_id
         limit p_settings.trigram_rows
    ),
    near as materialized (
        select w.ordinal, v.word,
               word_similarity(w.word, v.word)::double precision as strength
          from unnest(p_words) with ordinality as w (word, ordinal)
          join (select distinct u.word from m cross join unnest(m.words) as u (word)) as v
            on not p_has_vector or left(v.word, 2) = left(w.word, 2)
         where w.ordinal <> all (p_matched)
           and word_similarity(w.word, v.word) >= p_settings.trigram_threshold
    )
    select m.memory_id, n.ordinal, max(n.strength)
      from near as n
      join m on n.word = any (m.words)
     group by m.memory_id, n.ordinal;
end;
$function$;

comment on function recall._similar_words(uuid, text[], bigint[], boolean, recall.memory_filter,
    recall.settings) is
    'Memories with a word like one of those that no memory has, by trigram similarity.';
