-- recall._match_words(…) -> every memory of the search with its lexical similarity
-- That is the share of the query's words that a memory has, each weighted by its rarity among the
-- user's own memories as in BM25, a little less for a long text; where no memory has a word, words
-- like it count. NULL without a text. All active memories, or p_only.
create or replace function recall._match_words(
    p_user_id    uuid,
    p_words      text[],
    p_only       uuid[],
    p_sessions   uuid[],
    p_has_vector boolean,
    p_settings   recall.settings,
    out memory_ids    uuid[],
    out lexical       double precision[],
    out largest_count integer
)
language plpgsql
stable
parallel safe
set search_path from current
as $function$
declare
    v_terms constant tsquery[] := array(select recall._term_query(w.word)
                                          from unnest(p_words) as w (word));
begin
    with m as materialized (
        select a.memory_id, a.search_vector, a.access_count
          from recall.memory_store as a
         where p_only is null
           and a.user_id = p_user_id
           and a.ended_at is null
           and (a.session_id is null or a.session_id = any (p_sessions))
           and (a.expires_at is null or a.expires_at > now())
         union all
        select a.memory_id, a.search_vector, a.access_count
          from recall.memory_store as a
         where p_only is not null
           and a.user_id   = p_user_id
           and a.memory_id = any (p_only)
    ),
    hit as materialized (
        select m.memory_id, length(m.search_vector) as length, w.ordinal
          from unnest(v_terms) with ordinality as w (term, ordinal)
          join m on m.search_vector @@ w.term
    ),
    total as materialized (
        select count(*)::double precision as memories from m
    ),
    weight as materialized (
        select h.ordinal, ln(1 + (t.memories - count(*) + 0.5::double precision)
                                 / (count(*) + 0.5::double precision)) as weight
          from hit as h
         cross join total as t
         group by h.ordinal, t.memories
    ),
    alike as materialized (
        select s.memory_id, length(m.search_vector) as length, s.weight
          from total as t
         cross join lateral recall._similar_words(
                p_user_id, p_words, array(select w.ordinal from weight as w), t.memories,
                p_has_vector, p_settings) as s
          join m on m.memory_id = s.memory_id
         where (select count(*) from weight as w) < cardinality(p_words)
    ),
    matched as (
        select h.memory_id,
               sum(h.weight) / (1 + p_settings.lexical_length_penalty * h.length)
               / (select coalesce(sum(w.weight), 0)
                         + (cardinality(p_words) - count(w.ordinal)) * ln(2 + 2 * t.memories)
                    from total as t
                    left join weight as w on true
                   group by t.memories) as share
          from (
                select h.memory_id, h.length, w.weight
                  from hit as h
                  join weight as w on w.ordinal = h.ordinal
                 union all
                select a.memory_id, a.length, a.weight from alike as a
               ) as h
         group by h.memory_id, h.length
    )
    select array_agg(m.memory_id),
           array_agg(case when p_words is not null then coalesce(h.share, 0) end),
           max(m.access_count)
      into memory_ids, lexical, largest_count
      from m
      left join matched as h on h.memory_id = m.memory_id;
end;
$function$;

comment on function recall._match_words(uuid, text[], uuid[], uuid[], boolean, recall.settings) is
    'All memories that a search looks at, each with its share of the query''s words.';
