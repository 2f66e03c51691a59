-- Find the turns with the rarer words of a query among very many, best first.
-- It uses the rarest words that together occur in at most a tenth of the turns: a turn without any
-- of them is unlikely to rank high. weights holds the rarity of each word among all turns, for a
-- common word by p_shares.
-- Cost    a bitmap scan of the words of all of the user's turns; an index scan would return to most
--         pages for each turn.
create or replace function recall._turns_with_words(
    p_user_id  uuid,
    p_words    text[],
    p_shares   double precision[],
    p_turns    bigint,
    p_filter   recall.message_filter,
    p_settings recall.settings
)
returns recall.turn_keys
language plpgsql
stable
parallel safe
set search_path from current
set enable_seqscan = off
set enable_indexscan = off
set jit = off
as $function$
declare
    v_rare  text[];
    v_any   tsquery;
    v_turns recall.turn_keys;
begin
    if p_words = '{}' then
        return v_turns;
    end if;

    select array_agg(w.word), string_agg(recall._term_query(w.word)::text, '|')::tsquery
      into v_rare, v_any
      from (
            select s.word, row_number() over rarest as place,
                   sum(s.share) over rarest as together
              from unnest(p_shares, p_words) with ordinality as s (share, word, ordinal)
            window rarest as (order by s.share, s.ordinal)
           ) as w
     where w.place = 1 or w.together <= 0.1;

    with hit as materialized (
        select m.session_id, m.turn_index, m.created_at, m.role,
               recall._found_words(m.search_vector, p_words) as words
          from recall.message_search as m
         where m.user_id = p_user_id
           and m.embedding_model is distinct from p_settings.hidden_embedding_model
           and m.search_vector @@ v_any
           and (p_filter.session_ids is null or m.session_id = any (p_filter.session_ids))
    ),
    found as materialized (
        select h.words, count(*) as turns
          from hit as h
         group by h.words
    ),
    rarity as materialized (
        select w.word, w.ordinal,
               recall._rarity(p_turns, case when w.word = any (v_rare) then coalesce(f.turns, 0)
                                            else w.share * p_turns end) as weight
          from unnest(p_shares, p_words) with ordinality as w (share, word, ordinal)
          left join (
                select u.word, sum(s.turns)::double precision as turns
                  from found as s
                 cross join unnest(s.words) as u (word)
                 group by u.word
               ) as f on f.word = w.word
    ),
    by_words as (
        select s.words, sum(r.weight) as weight
          from found as s
         cross join unnest(s.words) as u (word)
          join rarity as r using (word)
         group by s.words
    ),
    said as (
        select h.session_id, h.turn_index, h.created_at, b.weight
          from hit as h
          join by_words as b on b.words = h.words
         where p_filter.turn_indexes is null
           and (p_filter.since is null or h.created_at >= p_filter.since)
           and (p_filter.until is null or h.created_at < p_filter.until)
           and (p_filter.roles is null or h.role = any (p_filter.roles))
    )
    select array_agg(s.session_id order by s.weight desc, s.created_at desc),
           array_agg(s.turn_index order by s.weight desc, s.created_at desc),
           array(select r.weight from rarity as r order by r.ordinal)
      into v_turns.session_ids, v_turns.turn_indexes, v_turns.weights
      from said as s;
    return v_turns;
end;
$function$;

comment on function recall._turns_with_words(uuid, text[], double precision[], bigint,
    recall.message_filter, recall.settings) is
    'Among very many turns, those with the rarer words of a query, and the rarity of each word.';
