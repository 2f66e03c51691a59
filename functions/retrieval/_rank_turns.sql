-- Rank turns, and return the best with the parts of their scores.
-- The better adjacent turn, the better one two away, and the session's best add their shares
-- (settings.message_…_weight). p_favored favors turns by recall._date_share. Generic plans: a
-- custom plan would read all of the user's turns instead of the candidates by key. Planning also
-- takes longer than the search. work_mem holds the words of 5,000 turns.
create or replace function recall._rank_turns(
    p_user_id   uuid,
    p_words     text[],
    p_embedding recall.memory_embedding.embedding%type,
    p_limit     integer,
    p_filter    recall.message_filter,
    p_favored   tstzrange,
    p_cited     jsonb,
    p_settings  recall.settings
)
returns recall.found_turn[]
language plpgsql
stable
parallel safe
set search_path to pg_catalog, recall, pg_temp
set plan_cache_mode = force_generic_plan
set work_mem = '32MB'
as $function$
declare
    v_has_time constant boolean          := p_favored is not null;
    v_weight   constant double precision := p_settings.date_weight;
    v_turns    recall.found_turn[];
begin
    with around as (
        select s.*,
               p_settings.message_neighbor_weight * greatest(
                   lag(s.own_part + s.feedback_part) over in_session,
                   lead(s.own_part + s.feedback_part) over in_session, 0)
               + p_settings.message_second_neighbor_weight * greatest(
                   lag(s.own_part + s.feedback_part, 2) over in_session,
                   lead(s.own_part + s.feedback_part, 2) over in_session, 0) as neighbor_part,
               p_settings.message_session_weight
               * max(s.own_part + s.feedback_part) over in_session as session_part
          from recall._score_turns(p_user_id, p_words, p_embedding, p_limit, p_filter, p_favored,
                                   p_cited, p_settings) as s
        window in_session as (partition by s.session_id order by s.turn_index
                              rows between unbounded preceding and unbounded following)
    )
    select array_agg(row(
               b.session_id, b.turn_index, b.created_at, b.score, b.similarity, b.lexical,
               b.favor * b.own_part, b.favor * b.neighbor_part, b.favor * b.session_part,
               b.favor * b.memory_part, b.favor * b.speaker_part,
               b.favor * b.feedback_part)::recall.found_turn)
      into v_turns
      from (
            select a.*, f.favor,
                   f.favor * (a.own_part + a.feedback_part + a.neighbor_part + a.session_part
                              + a.memory_part + a.speaker_part) as score
              from around as a
             cross join lateral (
                    select case when v_has_time
                                then 1 + v_weight * recall._date_share(a.created_at, p_favored)
                                else 1 end
                   ) as f (favor)
             -- Filter last, so that excluded turns still lend to their neighbors.
             where (p_filter.since is null or a.created_at >= p_filter.since)
               and (p_filter.until is null or a.created_at < p_filter.until)
               and (p_filter.roles is null or a.role = any (p_filter.roles))
               and (p_filter.turn_indexes is null
                    or (a.session_id, a.turn_index) in (
                           select * from unnest(p_filter.turn_sessions, p_filter.turn_indexes)))
             order by score desc, a.created_at desc, a.session_id, a.turn_index
             limit p_limit
           ) as b;
    return v_turns;
end;
$function$;

comment on function recall._rank_turns(uuid, text[], recall.memory_embedding.embedding%type,
    integer, recall.message_filter, tstzrange, jsonb, recall.settings) is
    'The best of a user''s turns for a query, with the parts that add up to their scores.';
