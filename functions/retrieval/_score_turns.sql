-- recall._score_turns(…) -> turns with what each has of its own for the query
-- own = half the cosine and half the words, each normalized over the turns; a part that the query
-- does not have leaves the other alone. Then pseudo-relevance feedback: words that the best turns,
-- and half as many that the best memories cite, share (not who spoke) are looked for, too, since a
-- question about several occasions seldom has the words of each.
create or replace function recall._score_turns(
    p_user_id   uuid,
    p_words     text[],
    p_embedding halfvec,
    p_limit     integer,
    p_filter    recall.message_filter,
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
set search_path from current
as $function$
declare
    v_total constant bigint := recall._count_turns(p_user_id, p_filter.session_ids);
    v_said  constant double precision :=
        case when p_embedding is not null then p_settings.hybrid_lexical_weight else 1 end;
begin
    return query
    with first as materialized (
        select * from recall._compare_turns(p_user_id, p_words, p_embedding, p_limit, p_filter,
                                            p_cited, p_settings)
    ),
    total as materialized (
        select count(*)::double precision as turns, nullif(max(f.lexical), 0) as most
          from first as f
    ),
    best as (
        (select f.session_id, f.turn_index, f.search_vector, 1::double precision as weight
           from first as f
          where f.lexical > 0
            and p_settings.message_feedback_weight > 0
          order by f.closeness + v_said * f.lexical / (select t.most from total as t)
                   + f.speaker_part + f.memory_part desc,
                   f.created_at desc, f.session_id, f.turn_index
          limit p_settings.feedback_turns)
         union all
        (select f.session_id, f.turn_index, f.search_vector,
                f.memory_part / p_settings.message_memory_weight
           from first as f
          where f.memory_part > 0
            and p_settings.message_feedback_weight > 0
          order by f.memory_part desc, f.created_at desc, f.session_id, f.turn_index
          limit p_settings.feedback_turns / 2)
    ),
    shared as materialized (
        select u.word, sum(b.weight) as weight, recall._term_query(u.word) as term
          from best as b
         cross join unnest(b.search_vector) as u (word, positions, weights)
         where u.word <> all (p_words)
         group by u.word
        having count(distinct (b.session_id, b.turn_index)) > 1
           and not bool_or('A' = any (u.weights))
         order by weight desc, u.word
         limit 4 * p_settings.feedback_words
    ),
    more_hit as materialized (
        select t.session_id, t.turn_index, s.word, s.weight
          from shared as s
          join first as t on t.search_vector @@ s.term
    ),
    among_all as (
        select w.word, w.share
          from (
                select array_agg(s.word order by s.word) as words,
                       array_agg(s.term order by s.word) as terms
                  from shared as s
               ) as l
         cross join unnest(l.words, case when v_total > p_settings.exact_search_limit
                                         then recall._word_shares(p_user_id, l.terms,
                                                                  p_filter.session_ids, v_total) end
                          ) as w (word, share)
    ),
    more_word as materialized (
        select r.word, f.rarity, r.weight * f.rarity as worth
          from (
                select h.word, h.weight, count(*) as found
                  from more_hit as h
                 group by h.word, h.weight
               ) as r
          join among_all as m using (word)
         cross join total as a
         cross join lateral (
                select ln(1 + (a.turns - n.found + 0.5) / (n.found + 0.5)) as rarity
                  from (select coalesce(m.share * a.turns, r.found) as found) as n
               ) as f
         order by worth desc, r.word
         limit p_settings.feedback_words
    ),
    by_more as (
        select h.session_id, h.turn_index, p_settings.message_feedback_weight
               * sum(w.rarity * w.worth / (select max(m.worth) from more_word as m)) as weight
          from more_hit as h
          join more_word as w using (word)
         group by h.session_id, h.turn_index
    ),
    second as (
        select f.*, coalesce(m.weight, 0) * f.shortness as feedback
          from first as f
          left join by_more as m using (session_id, turn_index)
    )
    select s.session_id, s.turn_index, s.role, s.created_at, s.similarity,
           s.lexical, s.closeness + v_said * coalesce(s.lexical / e.most, 0),
           v_said * coalesce(s.feedback / e.most, 0), s.speaker_part, s.memory_part
      from second as s
     cross join (
            select case when max(m.lexical) > 0 then max(m.lexical + m.feedback)
                        else nullif(max(m.feedback), 0) / p_settings.message_feedback_weight
                   end as most
              from second as m
           ) as e;
end;
$function$;

comment on function recall._score_turns(uuid, text[], halfvec, integer, recall.message_filter,
    jsonb, recall.settings) is
    'A user''s turns with the parts of their scores that are their own.';
