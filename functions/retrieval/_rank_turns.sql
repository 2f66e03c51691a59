-- recall._rank_turns(…) -> the best turns, with the parts of their scores
-- own = half the cosine and half the words, each min-max normalized over the user's turns; a part
-- that the query does not have leaves the other alone. A word counts by its rarity among the turns
-- (the weight of BM25). Then the better adjacent turn, the better one two away, the session's best
-- and the citing memories add their shares (settings.message_…_weight).
-- Cost: one pass over the user's rows of message_search.
create or replace function recall._rank_turns(
    p_user_id    uuid,
    p_words      text[],
    p_embedding  halfvec,
    p_limit      integer,
    p_session_id uuid,
    p_since      timestamptz,
    p_until      timestamptz,
    p_roles      recall.message_role[],
    p_cited      jsonb,
    p_settings   recall.settings
)
returns recall.found_turn[]
language plpgsql
stable
parallel safe
set search_path from current
as $function$
declare
    v_is_hybrid constant boolean := p_words <> '{}' and p_embedding is not null;
    v_near      constant double precision :=
        case when v_is_hybrid then p_settings.hybrid_similarity_weight else 1 end;
    v_said      constant double precision :=
        case when v_is_hybrid then p_settings.hybrid_lexical_weight else 1 end;
    v_terms     constant tsquery[] := array(
        select recall._term_query(w.word) from unnest(p_words) as w (word));
    v_likely    record;
    v_turns     recall.found_turn[];
begin
    v_likely := recall._likely_turns(p_user_id, v_terms, p_embedding, p_limit, p_session_id,
                                     p_since, p_until, p_roles, p_settings);

    with row as (
        select m.*
          from recall.message_search as m
         where v_likely.session_ids is null
           and m.user_id = p_user_id
           and (p_session_id is null or m.session_id = p_session_id)
         union all
        select m.*
          from unnest(v_likely.session_ids, v_likely.turn_indexes) as l (session_id, turn_index)
          join recall.message_search as m using (session_id, turn_index)
         where m.user_id = p_user_id
    ),
    turn as materialized (
        select m.session_id, m.turn_index, m.message_id, m.role, m.created_at, m.search_vector,
               case when m.embedding_model = p_settings.embedding_model
                    then 1 - (m.embedding <=> p_embedding) end as similarity
          from row as m
    ),
    total as materialized (
        select count(*)::double precision as turns,
               greatest(avg(length(t.search_vector)), 1)::double precision as length
          from turn as t
    ),
    hit as materialized (
        select t.session_id, t.turn_index, w.ordinal, length(t.search_vector) as length
          from unnest(v_terms) with ordinality as w (term, ordinal)
          join turn as t on t.search_vector @@ w.term
    ),
    word as materialized (
        select h.ordinal, coalesce(v_likely.weights[h.ordinal],
                                   ln(1 + (a.turns - count(*) + 0.5) / (count(*) + 0.5))) as weight
          from hit as h
         cross join total as a
         group by h.ordinal, a.turns
    ),
    by_words as materialized (
        select h.session_id, h.turn_index,
               sum(w.weight) * 1.9 / (1.9 + 0.9 * p_settings.message_length_penalty
                                      * (max(h.length) / max(a.length) - 1)) as lexical
          from hit as h
          join word as w using (ordinal)
         cross join total as a
         group by h.session_id, h.turn_index
    ),
    scored as (
        select t.session_id, t.turn_index, t.message_id, t.role, t.created_at, t.similarity,
               coalesce(b.lexical, 0) as lexical,
               v_near * coalesce(
                   (t.similarity - min(t.similarity) over ())
                   / nullif(max(t.similarity) over () - min(t.similarity) over (), 0),
                   (t.similarity is not null)::integer)
               + v_said * coalesce(b.lexical / nullif(max(b.lexical) over (), 0), 0) as own
          from turn as t
          left join by_words as b using (session_id, turn_index)
    ),
    around as (
        select s.*,
               p_settings.message_neighbor_weight * greatest(
                   lag(s.own) over in_session, lead(s.own) over in_session, 0)
               + p_settings.message_second_neighbor_weight * greatest(
                   lag(s.own, 2) over in_session, lead(s.own, 2) over in_session, 0) as neighbors,
               p_settings.message_session_weight
               * max(s.own) over (partition by s.session_id) as session,
               p_settings.message_memory_weight
               * coalesce((p_cited ->> s.message_id::text)::double precision, 0) as memories
          from scored as s
        window in_session as (partition by s.session_id order by s.turn_index)
    )
    select array_agg(row(
               b.session_id, b.turn_index, b.created_at,
               b.own + b.neighbors + b.session + b.memories, b.similarity, b.lexical,
               b.own, b.neighbors, b.session, b.memories)::recall.found_turn)
      into v_turns
      from (
            select a.*
              from around as a
             where (p_since is null or a.created_at >= p_since)
               and (p_until is null or a.created_at < p_until)
               and (p_roles is null or a.role = any (p_roles))
             order by a.own + a.neighbors + a.session + a.memories desc, a.created_at desc,
                      a.session_id, a.turn_index
             limit p_limit
           ) as b;
    return v_turns;
end;
$function$;

comment on function recall._rank_turns(uuid, text[], halfvec, integer, uuid, timestamptz,
    timestamptz, recall.message_role[], jsonb, recall.settings) is
    'The best of a user''s turns for a query, with the parts that add up to their scores.';
