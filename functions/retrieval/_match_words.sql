-- Compute the lexical similarity of every memory of a search.
-- It is the share of the query's words in a memory, slightly lower for a long text. Words are
-- weighted by their rarity among the user's memories, as in BM25. For a word without a match,
-- similar words count. NULL without a text. It compares all active memories, or p_only.
create or replace function recall._match_words(
    p_user_id    uuid,
    p_words      text[],
    p_only       uuid[],
    p_sessions   uuid[],
    p_has_vector boolean,
    p_filter     recall.memory_filter,
    out o_memory_ids    uuid[],
    out o_lexical       double precision[],
    out o_largest_count integer
)
language plpgsql
stable
parallel safe
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_length_penalty constant real := 0.01;
begin
    with m as materialized (
        select a.memory_id, a.search_vector, a.access_count
          from recall.memory_store as a
         where p_only is null
           and a.user_id = p_user_id
           and a.ended_at is null
           and (a.session_id is null or a.session_id = any (p_sessions))
           and (a.expires_at is null or a.expires_at > now())
           and recall._staleness_matches(row(a.*), p_filter)
         union all
        select a.memory_id, a.search_vector, a.access_count
          from recall.memory_store as a
         where p_only is not null
           and a.user_id   = p_user_id
           and a.memory_id = any (p_only)
    ),
    -- Ten memories without any word are added: a word in all of a few memories is not common.
    total as materialized (
        select 10 + count(*)::double precision as memories, max(m.access_count) as largest_count
          from m
    ),
    word as materialized (
        select w.ordinal, h.memory_ids, h.found,
               ln(1 + (t.memories - h.found + 0.5::double precision)
                      / (h.found + 0.5::double precision)) as weight
          from (
                select u.ordinal, recall._term_query(u.word) as term
                  from unnest(p_words) with ordinality as u (word, ordinal)
                offset 0
               ) as w
         cross join total as t
         cross join lateral (
                select array_agg(m.memory_id) as memory_ids, count(*) as found
                  from m
                 where m.search_vector @@ w.term
               ) as h
    ),
    -- Words that no memory has. Beside a vector, similar words must share their first letters.
    beginning as materialized (
        select string_agg(recall._term_query(left(p_words[w.ordinal], 3), true)::text,
                          '|')::tsquery as term
          from word as w
         where w.found = 0
           and length(p_words[w.ordinal]) > 2
    ),
    matched as (
        select h.memory_id, sum(h.weight) as weight
          from (
                select unnest(w.memory_ids) as memory_id, w.weight from word as w
                 union all
                select s.memory_id, s.weight
                  from total as t
                 cross join beginning as b
                 cross join lateral recall._similar_words(
                        p_user_id, p_words,
                        array(select w.ordinal from word as w where w.found > 0), t.memories,
                        p_has_vector) as s
                 where b.term is not null
                   and (not p_has_vector
                        or exists (select from m where m.search_vector @@ b.term))
               ) as h
         group by h.memory_id
    )
    select array_agg(m.memory_id),
           array_agg(case when p_words is not null then coalesce(
               h.weight / (1 + v_length_penalty * length(m.search_vector))
               / (select sum(w.weight) from word as w), 0) end),
           (select t.largest_count from total as t)
      into o_memory_ids, o_lexical, o_largest_count
      from m
      left join matched as h on h.memory_id = m.memory_id;
end;
$function$;

comment on function recall._match_words(uuid, text[], uuid[], uuid[], boolean,
    recall.memory_filter) is
    'All memories of a search, each with its share of the query''s words.';
