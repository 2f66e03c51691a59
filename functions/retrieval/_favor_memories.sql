-- Rank candidates as recall._rank_memories does, and favor those of a time.
-- A memory observed in that time gains settings.date_weight of its score; in the week after, less
-- (recall._date_share). Each part gains as much, so that the parts still add up. It is a function
-- of its own because most searches name no time and would pay for the products in each row.
create or replace function recall._favor_memories(
    p_user_id       uuid,
    p_candidates    recall.memory_candidate[],
    p_largest_count integer,
    p_limit         integer,
    p_at            timestamptz,
    p_weight        recall.score_weights,
    p_usual         double precision,
    p_favored       tstzrange,
    p_settings      recall.settings
)
returns setof recall.found_memory
language plpgsql
stable
parallel safe
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_weight constant double precision := p_settings.date_weight;
begin
    return query
    select r.memory_id, r.content, r.kind, r.tier, f.favor * r.score as score, r.relevance,
           r.match, r.similarity, r.lexical, r.freshness, r.frequency, r.authority, r.importance,
           r.confidence, r.tags, r.observed_at, r.created_at, r.token_count, r.slot, r.scope,
           r.provenance, r.source_turn_ids, r.access_count, r.session_id,
           f.favor * r.similarity_part, f.favor * r.lexical_part, f.favor * r.freshness_part,
           f.favor * r.frequency_part, f.favor * r.authority_part, f.favor * r.importance_part,
           r.decay
      from recall._rank_memories(p_user_id, p_candidates, p_largest_count, null, p_at, p_weight,
                                 p_usual, p_settings) with ordinality as r
     cross join lateral (
            select 1 + v_weight * recall._date_share(r.observed_at, p_favored)
           ) as f (favor)
     order by score desc, r.ordinality
     limit p_limit;
end;
$function$;

comment on function recall._favor_memories(uuid, recall.memory_candidate[], integer, integer,
    timestamptz, recall.score_weights, double precision, tstzrange,
    recall.settings) is
    'Rank candidates in favor of a time and return the best, with each part of the score.';
