-- Compare all memories, or p_only, by words and vector, and keep the candidates of a search.
-- It keeps each one that can still be among the best after the small terms of the score are added
-- and p_favor is multiplied. Hybrid scores use min-max normalization over all compared memories
-- (equal values: 1). For a memory without a vector, the words replace the similarity.
create or replace function recall._find_memories(
    p_user_id        uuid,
    p_words          text[],
    p_embedding      recall.memory_embedding.embedding%type,
    p_only           uuid[],
    p_limit          integer,
    p_filter         recall.memory_filter,
    p_usual          double precision,
    p_sessions       uuid[],
    p_weight         recall.score_weights,
    p_favor          double precision,
    p_settings       recall.settings
)
returns recall.found_candidates
language plpgsql
stable
parallel safe
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_normalize  constant boolean := p_words is not null and p_settings.scoring = 'hybrid';
    v_similarity constant double precision := p_weight.similarity;
    v_lexical    constant double precision := p_weight.lexical;
    v_small      constant double precision :=
        case when p_settings.decay_mode = 'multiply' then 'infinity'
             else p_weight.freshness + p_weight.frequency + p_weight.authority end;
    v_min_similarity constant real := p_filter.min_similarity;
    v_min_match  constant real := p_filter.min_match;
    v_memory_ids uuid[];
    v_shares     double precision[];
    v_found      recall.found_candidates;
begin
    select w.o_memory_ids, w.o_lexical, w.o_largest_count
      into v_memory_ids, v_shares, v_found.largest_count
      from recall._match_words(p_user_id, p_words, p_only, p_sessions, p_embedding is not null,
                               p_filter) as w;

    with by_vector as (
        select e.memory_id, 1 - recall._cosine_distance(e.embedding, p_embedding) as similarity
          from recall.memory_embedding as e
         where p_only is null
           and p_embedding is not null
           and e.user_id         = p_user_id
           and e.embedding_model = p_settings.embedding_model
         union all
        select s.memory_id, s.similarity
          from recall._similarities(p_user_id, p_embedding, p_only, p_settings) as s
         where p_only is not null
           and p_embedding is not null
    ),
    found as materialized (
        select m.memory_id, v.similarity, m.lexical
          from unnest(v_memory_ids, v_shares) as m (memory_id, lexical)
          left join by_vector as v on v.memory_id = m.memory_id
         where (v_min_similarity is null
                or coalesce(v.similarity, m.lexical, 0) >= v_min_similarity)
           and (v_min_match is null
                or recall._match(v.similarity, m.lexical, p_usual) >= v_min_match)
    ),
    -- Offset and divisor of the min-max normalization.
    span as materialized (
        select case when not v_normalize then 0
                    when max(f.similarity) > min(f.similarity) then min(f.similarity)
                    else min(f.similarity) - 1 end as similarity_from,
               case when v_normalize and max(f.similarity) > min(f.similarity)
                    then max(f.similarity) - min(f.similarity) else 1 end as similarity_span,
               case when not v_normalize then 0
                    when max(f.lexical) > min(f.lexical) then min(f.lexical)
                    else min(f.lexical) - 1 end as lexical_from,
               case when v_normalize and max(f.lexical) > min(f.lexical)
                    then max(f.lexical) - min(f.lexical) else 1 end as lexical_span
          from found as f
    ),
    ranked as materialized (
        select f.memory_id, f.similarity, f.lexical,
               greatest(0, coalesce(
                   (f.similarity - s.similarity_from) * (v_similarity / s.similarity_span),
                   (f.lexical - s.lexical_from) * (v_similarity / s.lexical_span)))
               + coalesce((f.lexical - s.lexical_from) * (v_lexical / s.lexical_span), 0) as base
          from found as f
         cross join span as s
         order by base desc
    )
    select array_agg(row(
               r.memory_id, r.similarity, r.lexical,
               greatest(0, coalesce((r.similarity - s.similarity_from) / s.similarity_span,
                                    (r.lexical - s.lexical_from) / s.lexical_span)),
               (r.lexical - s.lexical_from) / s.lexical_span)::recall.memory_candidate)
      into v_found.candidates
      from ranked as r
     cross join span as s
     where r.base >= coalesce((select l.base from ranked as l offset p_limit - 1 limit 1)
                              / (1 + p_favor) - v_small, '-infinity');
    return v_found;
end;
$function$;

comment on function recall._find_memories(uuid, text[], recall.memory_embedding.embedding%type,
    uuid[], integer, recall.memory_filter, double precision, uuid[], recall.score_weights,
    double precision, recall.settings) is
    'Candidates of a search, from a comparison of all memories by vector and words, and the '
    'largest access count.';
