-- Return where some words occur in the turns of a user: each word with its turns, block by block.
-- turn_index is before_turn plus a position. A block is one of message_words, or the turns of a
-- session that none of them holds yet. It has a number, since joins by numbers take half as long as
-- those by sessions.
-- Cost    one pass over the blocks, a fifth of the time of reading each turn (of 50,000); and over
--         the turns that are in no block.
create or replace function recall._word_positions(
    p_user_id  uuid,
    p_words    text[],
    p_filter   recall.message_filter,
    p_settings recall.settings
)
returns table (
    place       bigint,
    session_id  uuid,
    before_turn integer,
    word        text,
    positions   integer[]
)
language plpgsql
stable
parallel safe
set search_path to pg_catalog, recall, pg_temp
set enable_seqscan = off
set enable_nestloop = off
set jit = off
as $function$
begin
    return query
    with asked as materialized (
        select q.word, recall._term_query(q.word) as term
          from unnest(p_words) as q (word)
    )
    select b.place, b.session_id, b.before_turn, u.lexeme as word, u.positions
      from (
            select b.session_id, b.before_turn, b.words, row_number() over () as place
              from recall.message_words as b
             where b.user_id = p_user_id
               and (p_filter.session_ids is null or b.session_id = any (p_filter.session_ids))
           ) as b
     cross join unnest(ts_filter(setweight(b.words, 'B', p_words), '{b}')) as u
     union all
    select -s.place, s.session_id, 0, q.word, array_agg(m.turn_index)
      from (
            select s.session_id, row_number() over () as place,
                   coalesce(max(b.through_turn), 0) as through_turn
              from recall.sessions as s
              left join recall.message_words as b
                on b.user_id    = p_user_id
               and b.session_id = s.session_id
             where s.user_id = p_user_id
               and (p_filter.session_ids is null or s.session_id = any (p_filter.session_ids))
             group by s.session_id, s.turn_count
            having coalesce(max(b.through_turn), 0) < s.turn_count
           ) as s
     cross join lateral (
            select m.turn_index, m.search_vector
              from recall.message_search as m
             where m.user_id    = p_user_id
               and m.session_id = s.session_id
               and m.turn_index > s.through_turn
               and m.embedding_model is distinct from p_settings.hidden_embedding_model
            offset 0
           ) as m
      join asked as q on m.search_vector @@ q.term
     group by s.place, s.session_id, q.word;
end;
$function$;

comment on function recall._word_positions(uuid, text[], recall.message_filter, recall.settings) is
    'Where some words occur in the turns of a user.';
