-- recall._likely_turns(…) -> what a search of turns looks at when the user has very many
-- The nearest (the signs of the vectors first, then exactly), the best by words, each with the two
-- turns before and after it, and, should they be too few, any that match. Words keep the rarity
-- that they have among all turns. Turns that the filter names are all compared. NULL when there are
-- no more than settings.exact_search_limit: then every turn is.
create or replace function recall._likely_turns(
    p_user_id   uuid,
    p_terms     tsquery[],
    p_embedding halfvec,
    p_limit     integer,
    p_filter    recall.message_filter,
    p_settings  recall.settings,
    out session_ids  uuid[],
    out turn_indexes integer[],
    out weights      double precision[]
)
language plpgsql
stable
parallel safe
set search_path from current
set work_mem = '32MB'
as $function$
declare
    v_total constant bigint := recall._count_turns(p_user_id, p_filter.session_ids);
    v_any   tsquery;
    v_near  recall.found_turn[];
begin
    if v_total <= p_settings.exact_search_limit then
        return;
    end if;

    select string_agg(t.term::text, '|')::tsquery into v_any from unnest(p_terms) as t (term);
    if p_embedding is not null and p_filter.turn_indexes is null then
        v_near := recall._nearest_turns_by_bits(p_user_id, p_embedding, p_limit, p_filter,
                                                p_settings);
    end if;

    with hit as materialized (
        select m.session_id, m.turn_index, m.created_at, m.role, m.search_vector
          from recall.message_search as m
         where v_any is not null
           and m.user_id = p_user_id
           and m.search_vector @@ v_any
           and (p_filter.session_ids is null or m.session_id = any (p_filter.session_ids))
    ),
    near as (
        select m.session_id, m.turn_index
          from unnest(v_near) as n
          join recall.message_search as m
            on m.user_id    = p_user_id
           and m.session_id = n.session_id
           and m.turn_index = n.turn_index
         order by m.embedding <=> p_embedding
         limit greatest(4 * p_settings.semantic_candidates, p_limit)
    ),
    said as (
        select h.session_id, h.turn_index
          from hit as h
         where p_filter.turn_indexes is null
           and (p_filter.since is null or h.created_at >= p_filter.since)
           and (p_filter.until is null or h.created_at < p_filter.until)
           and (p_filter.roles is null or h.role = any (p_filter.roles))
         order by ts_rank('{1,1,1,1}', h.search_vector, v_any) desc, h.created_at desc
         limit greatest(10 * p_settings.lexical_candidates, p_limit)
    ),
    found as materialized (
        select * from near
         union
        select * from said
         union
        select * from unnest(p_filter.turn_sessions, p_filter.turn_indexes)
    ),
    filled as (
        select * from found
         union
        (select m.session_id, m.turn_index
           from recall.message_search as m
          where p_filter.turn_indexes is null
            and (select count(*) from found) < p_limit
            and m.user_id = p_user_id
            and (p_filter.session_ids is null or m.session_id = any (p_filter.session_ids))
            and (p_filter.since is null or m.created_at >= p_filter.since)
            and (p_filter.until is null or m.created_at < p_filter.until)
            and (p_filter.roles is null or m.role = any (p_filter.roles))
          order by m.created_at desc
          limit p_limit)
    ),
    around as (
        select distinct f.session_id, f.turn_index + d.step as turn_index
          from filled as f
         cross join generate_series(-2, 2) as d (step)
    ),
    rarity as (
        select w.ordinal,
               ln(1 + (v_total - count(h.turn_index) + 0.5) / (count(h.turn_index) + 0.5)) as weight
          from unnest(p_terms) with ordinality as w (term, ordinal)
          left join hit as h on h.search_vector @@ w.term
         group by w.ordinal
    )
    select coalesce(array_agg(a.session_id), '{}'), coalesce(array_agg(a.turn_index), '{}'),
           array(select r.weight from rarity as r order by r.ordinal)
      into session_ids, turn_indexes, weights
      from around as a;
end;
$function$;

comment on function recall._likely_turns(uuid, tsquery[], halfvec, integer, recall.message_filter,
    recall.settings) is
    'Of very many turns those that a search scores, and the rarity of its words among all.';
