-- Find the turns with the rarer words of a query among very many, best first.
-- It uses the rarest words that together occur in at most a tenth of the turns: a turn without any
-- of them is unlikely to rank high. weights holds the rarity of each word among all turns.
-- Cost    that of recall._word_positions, and joins of the turns with the words.
create or replace function recall._turns_with_words(
    p_user_id  uuid,
    p_words    text[],
    p_turns    bigint,
    p_filter   recall.message_filter,
    p_settings recall.settings
)
returns recall.turn_keys
language plpgsql
stable
parallel safe
set search_path to pg_catalog, recall, pg_temp
set enable_seqscan = off
set enable_nestloop = off
set jit = off
as $function$
declare
    v_is_filtered constant boolean := p_filter.since is not null or p_filter.until is not null
                                      or p_filter.roles is not null;
    v_turns recall.turn_keys;
begin
    if p_words = '{}' then
        return v_turns;
    end if;

    with block as materialized (
        select * from recall._word_positions(p_user_id, p_words, p_filter, p_settings)
    ),
    word as materialized (
        select w.word, w.ordinal, recall._rarity(p_turns, w.turns) as weight,
               row_number() over rarest = 1
               or sum(w.turns) over rarest <= 0.1 * p_turns as is_rare
          from (
                select q.word, q.ordinal,
                       coalesce(sum(cardinality(b.positions)), 0)::double precision as turns
                  from unnest(p_words) with ordinality as q (word, ordinal)
                  left join block as b using (word)
                 group by q.word, q.ordinal
               ) as w
        window rarest as (order by w.turns, w.ordinal)
    ),
    hit as materialized (
        select r.place, r.position, sum(r.weight) as weight
          from (
                select b.place, unnest(b.positions) as position, w.weight
                  from block as b
                  join word as w using (word)
                 where w.is_rare
               ) as r
         group by r.place, r.position
    ),
    common as (
        select h.place, h.position, sum(c.weight) as weight
          from (
                select b.place, unnest(b.positions) as position, w.weight
                  from block as b
                  join word as w using (word)
                 where not w.is_rare
               ) as c
          join hit as h using (place, position)
         group by h.place, h.position
    ),
    said as (
        select b.session_id, b.before_turn + h.position as turn_index,
               h.weight + coalesce(c.weight, 0) as weight
          from hit as h
          join (select distinct b.place, b.session_id, b.before_turn from block as b) as b
               using (place)
          left join common as c using (place, position)
    )
    select array_agg(s.session_id order by s.weight desc, s.session_id desc, s.turn_index desc),
           array_agg(s.turn_index order by s.weight desc, s.session_id desc, s.turn_index desc),
           array(select w.weight from word as w order by w.ordinal)
      into v_turns.session_ids, v_turns.turn_indexes, v_turns.weights
      from said as s
     where p_filter.turn_indexes is null
       and (not v_is_filtered or exists (
           select from recall.message_search as m
            where m.user_id    = p_user_id
              and m.session_id = s.session_id
              and m.turn_index = s.turn_index
              and (p_filter.since is null or m.created_at >= p_filter.since)
              and (p_filter.until is null or m.created_at < p_filter.until)
              and (p_filter.roles is null or m.role = any (p_filter.roles))));
    return v_turns;
end;
$function$;

comment on function recall._turns_with_words(uuid, text[], bigint, recall.message_filter,
    recall.settings) is
    'Among very many turns, those with the rarer words of a query, and the rarity of each word.';
