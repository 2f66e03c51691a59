-- recall._likely_memories(…) -> what a search looks at when the user has very many memories
-- The nearest by the vectors' sign bits (a tenth of the work), the best by words, the most
-- accessed, and enough of the most important to fill the limit; a thousand instead of twenty
-- thousand then get the exact comparison. Filters apply before every limit.
create or replace function recall._likely_memories(
    p_user_id   uuid,
    p_words     text[],
    p_embedding halfvec,
    p_limit     integer,
    p_filter    recall.memory_filter,
    p_sessions  uuid[],
    p_settings  recall.settings
)
returns uuid[]
language plpgsql
stable
parallel safe
set search_path from current
as $function$
declare
    v_bits constant bit varying := binary_quantize(p_embedding);
    v_any  constant tsquery     := (
        select string_agg(recall._term_query(w.word)::text, '|')::tsquery
          from unnest(p_words) as w (word));
begin
    return array(
        with m as materialized (
            select a.memory_id, a.importance, a.access_count, a.session_id is null as is_global,
                   case when a.search_vector @@ v_any
                        then ts_rank(a.search_vector, v_any) end as rank
              from recall.memory_store as a
             where a.user_id = p_user_id
               and a.ended_at is null
               and (a.session_id is null or a.session_id = any (p_sessions))
               and recall._memory_visible(a, p_filter, null)
               and recall._memory_matches(a, p_filter)
        )
        (select m.memory_id
           from m
           join recall.memory_embedding as e on e.memory_id = m.memory_id
          where e.user_id         = p_user_id
            and e.embedding_model = p_settings.embedding_model
          order by binary_quantize(e.embedding) <~> v_bits, e.memory_id
          limit greatest(p_settings.coarse_candidates, 2 * p_limit))
         union
        (select m.memory_id
           from m
          where m.rank is not null
          order by m.rank desc, m.memory_id
          limit greatest(10 * p_settings.lexical_candidates, p_limit))
         union
        (select m.memory_id
           from m
          where m.is_global
          order by m.access_count desc, m.memory_id
          limit p_settings.frequent_candidates)
         union
        (select m.memory_id
           from m
          order by m.importance desc, m.memory_id
          limit p_limit));
end;
$function$;

comment on function recall._likely_memories(uuid, text[], halfvec, integer, recall.memory_filter,
    uuid[], recall.settings) is
    'Of very many memories those worth an exact comparison: by sign bits, words, use, importance.';
