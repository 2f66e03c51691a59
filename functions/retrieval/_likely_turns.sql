-- Select the candidate turns of a search when the user has very many.
-- They are the nearest (by sign bits, then exactly), the best by words, and any matches if these
-- are too few. Turns that the filter names are all candidates. Words keep their rarity among all
-- turns. NULL up to settings.exact_search_limit, where every turn is compared.
-- Cost    a scan of the sign bits in the index, and one of the words, of all of the user's turns.
create or replace function recall._likely_turns(
    p_user_id   uuid,
    p_words     text[],
    p_embedding recall.memory_embedding.embedding%type,
    p_limit     integer,
    p_filter    recall.message_filter,
    p_settings  recall.settings
)
returns recall.turn_keys
language plpgsql
stable
parallel safe
set search_path to pg_catalog, recall, pg_temp
set enable_seqscan = off
set jit = off
as $function$
declare
    v_total constant bigint := recall._count_turns(p_user_id, p_filter.session_ids);
    v_any   tsquery;
    v_near  recall.turn_keys;
    v_said  recall.turn_keys;
    v_turns recall.turn_keys;
begin
    if v_total <= p_settings.exact_search_limit then
        return v_turns;
    end if;

    select string_agg(recall._term_query(w.word)::text, '|')::tsquery
      into v_any
      from unnest(p_words) as w (word);
    v_said          := recall._turns_with_words(p_user_id, p_words, v_total, p_filter, p_settings);
    v_turns.weights := v_said.weights;
    v_near          := recall._nearest_turns_by_bits(p_user_id, p_embedding, p_limit, p_filter,
                                                     p_settings);

    with near as (
        select r.*, row_number() over (partition by r.session_id order by r.place) as in_session
          from (
                select m.session_id, m.turn_index,
                       row_number() over (
                           order by recall._cosine_distance(m.embedding, p_embedding)
                       ) as place
                  from unnest(v_near.session_ids, v_near.turn_indexes) as n (session_id, turn_index)
                  join recall.message_search as m
                    on m.user_id         = p_user_id
                   and m.session_id      = n.session_id
                   and m.turn_index      = n.turn_index
                   and m.embedding_model = p_settings.embedding_model
               ) as r
    ),
    said as (
        select s.*, row_number() over (partition by s.session_id order by s.place) as in_session
          from unnest(v_said.session_ids, v_said.turn_indexes)
               with ordinality as s (session_id, turn_index, place)
    ),
    -- Sessions of the first three turns get up to twenty candidates each.
    leader as (
        select n.session_id from near as n where n.place <= 3
         union
        select s.session_id from said as s where s.place <= 3
    ),
    found as materialized (
        select n.session_id, n.turn_index
          from near as n
         where n.place <= greatest(4 * p_settings.semantic_candidates, p_limit)
            or n.in_session <= 20 and n.session_id in (select l.session_id from leader as l)
         union
        select s.session_id, s.turn_index
          from said as s
         where s.place <= greatest(10 * p_settings.lexical_candidates, p_limit)
            or s.in_session <= 20 and s.session_id in (select l.session_id from leader as l)
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
            and m.embedding_model is distinct from p_settings.hidden_embedding_model
            and (p_filter.session_ids is null or m.session_id = any (p_filter.session_ids))
            and (p_filter.since is null or m.created_at >= p_filter.since)
            and (p_filter.until is null or m.created_at < p_filter.until)
            and (p_filter.roles is null or m.role = any (p_filter.roles))
          order by coalesce(m.search_vector @@ v_any, false) desc, m.created_at desc
          limit p_limit)
    ),
    -- Neighbors lend to a turn's score: add the two turns before and after each.
    around as (
        select distinct f.session_id, f.turn_index + d.step as turn_index
          from filled as f
         cross join generate_series(-2, 2) as d (step)
    )
    select coalesce(array_agg(a.session_id), '{}'), coalesce(array_agg(a.turn_index), '{}')
      into v_turns.session_ids, v_turns.turn_indexes
      from around as a;
    return v_turns;
end;
$function$;

comment on function recall._likely_turns(uuid, text[], recall.memory_embedding.embedding%type,
    integer, recall.message_filter, recall.settings) is
    'Among very many turns, those that a search scores, and the rarity of its words among all.';
