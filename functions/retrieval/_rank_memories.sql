-- Rank candidates of a search, and return the best with each part of their scores.
-- score = decay × the sum of the parts. relevance is always the classic score, and match is
-- recall._match beside p_usual. Among equal scores, similarity, then importance, then age decides:
-- the newer comes first.
create or replace function recall._rank_memories(
    p_user_id       uuid,
    p_candidates    recall.memory_candidate[],
    p_largest_count integer,
    p_limit         integer,
    p_at            timestamptz,
    p_weight        recall.score_weights,
    p_usual         double precision,
    p_settings      recall.settings
)
returns setof recall.found_memory
language plpgsql
stable
parallel safe
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_now        constant double precision := date_part('epoch', p_at);
    v_most       constant double precision := ln(1 + greatest(1, p_largest_count));
    v_forgetting constant double precision := p_settings.freshness_decay_per_hour / 3600;
    v_decay      constant double precision :=
        case when p_settings.decay_mode = 'multiply' then p_settings.decay_per_day / 86400
             else 0 end;
    v_similarity constant double precision := p_weight.similarity;
    v_lexical    constant double precision := p_weight.lexical;
    v_freshness  constant double precision := p_weight.freshness;
    v_frequency  constant double precision := p_weight.frequency;
    v_authority  constant double precision := p_weight.authority;
    v_importance constant double precision := p_weight.importance;
begin
    return query
    select m.memory_id, m.content, m.kind, m.tier::text,
           t.decay * (p.similarity + p.lexical + p.freshness + p.frequency + p.authority
                      + p.importance) as score,
           least(1, p_settings.classic_similarity_weight
                    * greatest(0, coalesce(c.similarity, c.lexical))
                    + p_settings.classic_freshness_weight * t.freshness
                    + p_settings.classic_frequency_weight * t.frequency
                    + p_settings.classic_authority_weight * m.confidence * t.authority),
           recall._match(c.similarity, c.lexical, p_usual),
           c.similarity, c.lexical, t.freshness, t.frequency, t.authority, m.importance,
           m.confidence, m.tags, m.observed_at, m.created_at, m.token_count, m.slot,
           m.scope::text, m.provenance::text, m.source_turn_ids, m.access_count, m.session_id,
           p.similarity, p.lexical, p.freshness, p.frequency, p.authority, p.importance, t.decay
      from unnest(p_candidates) as c
      join recall.memory_store as m on m.memory_id = c.memory_id
     cross join lateral (
            select greatest(0, v_now - date_part('epoch', coalesce(m.last_accessed_at,
                                                                   m.created_at)))
           ) as i (seconds)
     cross join lateral (
            select exp(-least(60, v_forgetting * i.seconds)),
                   ln(1 + m.access_count::double precision) / v_most,
                   recall._authority(m.provenance),
                   case when v_decay > 0 then exp(-least(60, v_decay * i.seconds)) else 1 end
           ) as t (freshness, frequency, authority, decay)
     cross join lateral (
            select v_similarity * coalesce(c.similarity_term, 0),
                   v_lexical    * coalesce(c.lexical_term, 0),
                   v_freshness  * t.freshness,
                   v_frequency  * t.frequency,
                   v_authority  * m.confidence * t.authority,
                   v_importance * m.importance
           ) as p (similarity, lexical, freshness, frequency, authority, importance)
     where m.user_id   = p_user_id
       and m.memory_id = any (array(select a.memory_id from unnest(p_candidates) as a))
     order by score desc, c.similarity desc nulls last, m.importance desc, m.created_at desc,
              m.memory_id
     limit p_limit;
end;
$function$;

comment on function recall._rank_memories(uuid, recall.memory_candidate[], integer, integer,
    timestamptz, recall.score_weights, double precision, recall.settings) is
    'Rank candidates and return the best, with each part of the score.';
