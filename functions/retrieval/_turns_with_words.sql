-- recall._turns_with_words(…) -> of very many turns those with the rarer words, best first
-- The rarest words, as many as occur in a tenth of the turns: what has none of them is hardly among
-- the best. weights: the rarity of each word among all turns, of a common one estimated.
-- Cost: a pass over the words of all of the user's turns.
create or replace function recall._turns_with_words(
    p_user_id uuid,
    p_terms   tsquery[],
    p_turns   bigint,
    p_filter  recall.message_filter,
    out session_ids  uuid[],
    out turn_indexes integer[],
    out weights      double precision[]
)
language plpgsql
stable
parallel safe
set search_path from current
set enable_seqscan = off
set jit = off
as $function$
declare
    v_shares double precision[];
    v_rare   bigint[];
    v_any    tsquery;
begin
    if p_terms = '{}'::tsquery[] then
        return;
    end if;

    v_shares := recall._word_shares(p_user_id, p_terms, p_filter.session_ids, p_turns);
    select array_agg(w.ordinal), string_agg(p_terms[w.ordinal]::text, '|')::tsquery
      into v_rare, v_any
      from (
            select s.ordinal, row_number() over rarest as place,
                   sum(s.share) over rarest as together
              from unnest(v_shares) with ordinality as s (share, ordinal)
            window rarest as (order by s.share, s.ordinal)
           ) as w
     where w.place = 1 or w.together <= 0.1;

    with hit as materialized (
        select m.session_id, m.turn_index, m.created_at, m.role, m.search_vector
          from recall.message_search as m
         where m.user_id = p_user_id
           and m.search_vector @@ v_any
           and (p_filter.session_ids is null or m.session_id = any (p_filter.session_ids))
    ),
    frequency as (
        select w.ordinal, count(h.turn_index)::double precision as turns
          from unnest(v_rare) as w (ordinal)
          left join hit as h on h.search_vector @@ p_terms[w.ordinal]
         group by w.ordinal
    ),
    rarity as materialized (
        select w.ordinal, recall._rarity(p_turns, f.turns) as weight
          from unnest(v_shares) with ordinality as w (share, ordinal)
          left join frequency as o using (ordinal)
         cross join lateral (select coalesce(o.turns, w.share * p_turns)) as f (turns)
    ),
    said as (
        select h.session_id, h.turn_index, h.created_at, sum(r.weight) as weight
          from hit as h
          join rarity as r on h.search_vector @@ p_terms[r.ordinal]
         where p_filter.turn_indexes is null
           and (p_filter.since is null or h.created_at >= p_filter.since)
           and (p_filter.until is null or h.created_at < p_filter.until)
           and (p_filter.roles is null or h.role = any (p_filter.roles))
         group by h.session_id, h.turn_index, h.created_at
    )
    select array_agg(s.session_id order by s.weight desc, s.created_at desc),
           array_agg(s.turn_index order by s.weight desc, s.created_at desc),
           array(select r.weight from rarity as r order by r.ordinal)
      into session_ids, turn_indexes, weights
      from said as s;
end;
$function$;

comment on function recall._turns_with_words(uuid, tsquery[], bigint, recall.message_filter) is
    'Of very many turns those with the rarer words of a query, and the rarity of each word.';
