-- Compute the parts of a turn's score that come from the turn itself.
-- own_part adds cosine and words, each normalized over the turns, by settings.hybrid_…_weight;
-- without one of them in the query, the other counts alone. Pseudo-relevance feedback then adds
-- words to the query: a question about several occasions seldom contains the words of each.
create or replace function recall._score_turns(
    p_user_id   uuid,
    p_words     text[],
    p_embedding recall.memory_embedding.embedding%type,
    p_limit     integer,
    p_filter    recall.message_filter,
    p_favored   tstzrange,
    p_cited     jsonb,
    p_settings  recall.settings
)
returns table (
    session_id    uuid,
    turn_index    integer,
    role          recall.message_role,
    created_at    timestamptz,
    similarity    double precision,
    lexical       double precision,
    own_part      double precision,
    feedback_part double precision,
    speaker_part  double precision,
    memory_part   double precision
)
language plpgsql
stable
parallel safe
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    -- Feedback: at most so many turns, and so many words.
    v_most  constant integer := 10;
    v_total constant bigint  := recall._count_turns(p_user_id, p_filter.session_ids);
    v_said  constant double precision :=
        case when p_embedding is not null then p_settings.hybrid_lexical_weight else 1 end;
begin
    return query
    with first as materialized (
        select * from recall._compare_turns(p_user_id, p_words, p_embedding, p_limit, p_filter,
                                            p_favored, p_cited, p_settings)
    ),
    total as materialized (
        select count(*)::double precision as turns, nullif(max(f.lexical), 0) as most
          from first as f
    ),
    -- Feedback: the best turns, and half as many that the best memories cite.
    best as (
        (select f.session_id, f.turn_index, f.search_vector, 1::double precision as weight
           from first as f
          where f.lexical > 0
          order by f.closeness + v_said * f.lexical / (select t.most from total as t)
                   + f.speaker_part + f.memory_part desc,
                   f.created_at desc, f.session_id, f.turn_index
          limit v_most)
         union all
        (select f.session_id, f.turn_index, f.search_vector,
                f.memory_part / p_settings.message_memory_weight
           from first as f
          where f.memory_part > 0
          order by f.memory_part desc, f.created_at desc, f.session_id, f.turn_index
          limit v_most / 2)
    ),
    -- Their shared words, except names of speakers (weight A).
    shared as materialized (
        select u.word, sum(b.weight) as weight
          from best as b
         cross join unnest(b.search_vector) as u (word, positions, weights)
         where p_settings.message_feedback_weight > 0 and u.word <> all (p_words)
         group by u.word
        having count(distinct (b.session_id, b.turn_index)) > 1
           and not bool_or('A' = any (u.weights))
         order by weight desc, u.word
         limit 4 * v_most
    ),
    second as materialized (
        select f.session_id, f.turn_index, f.role, f.created_at, f.similarity, f.lexical,
               f.closeness, f.shortness, f.speaker_part, f.memory_part,
               recall._found_words(f.search_vector,
                                   (select array_agg(s.word) from shared as s)) as words
          from first as f
    ),
    said as materialized (
        select s.words, count(*) as turns
          from second as s
         where s.words <> '{}'
         group by s.words
    ),
    more_word as materialized (
        select s.word, f.rarity, s.weight * f.rarity as worth
          from (
                select u.word, sum(s.turns) as turns
                  from said as s
                 cross join unnest(s.words) as u (word)
                 group by u.word
               ) as r
          join shared as s using (word)
          join unnest((select array_agg(s.word order by s.word) from shared as s),
                      case when v_total > p_settings.exact_search_limit
                           then recall._word_shares(p_user_id,
                                    (select array_agg(s.word order by s.word) from shared as s),
                                p_filter.session_ids, v_total, p_settings) end) as m (word, share)
         using (word)
         cross join total as a
         cross join recall._rarity(a.turns, coalesce(m.share * a.turns, r.turns)) as f (rarity)
         order by worth desc, s.word
         limit v_most
    ),
    by_more as (
        select s.words, p_settings.message_feedback_weight
               * sum(w.rarity * w.worth / (select max(m.worth) from more_word as m)) as weight
          from said as s
         cross join unnest(s.words) as u (word)
          join more_word as w using (word)
         group by s.words
    ),
    third as materialized (
        select s.*, coalesce(m.weight, 0) * s.shortness as feedback
          from second as s
          left join by_more as m on m.words = s.words
    )
    select s.session_id, s.turn_index, s.role, s.created_at, s.similarity,
           s.lexical, s.closeness + v_said * coalesce(s.lexical / e.most, 0),
           v_said * coalesce(s.feedback / e.most, 0), s.speaker_part, s.memory_part
      from third as s
     cross join (
            select case when max(m.lexical) > 0 then max(m.lexical + m.feedback)
                        else nullif(max(m.feedback), 0) / p_settings.message_feedback_weight
                   end as most
              from third as m
           ) as e;
end;
$function$;

comment on function recall._score_turns(uuid, text[], recall.memory_embedding.embedding%type,
    integer, recall.message_filter, tstzrange, jsonb, recall.settings) is
    'A user''s turns with the parts of their scores that come from the turn itself.';
