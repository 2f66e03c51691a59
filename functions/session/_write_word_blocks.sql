-- Write the blocks of message_words of some turns of a session anew.
-- A block has at most 250 turns: a tsvector keeps 255 positions of a word. It has one turn where
-- the words of 250 turns could exceed the megabyte of a tsvector. The caller has locked the session
-- or the user.
create or replace function recall._write_word_blocks(
    p_user_id      uuid,
    p_session_id   uuid,
    p_from_turn    integer,
    p_through_turn integer
)
returns void
language plpgsql
volatile
parallel unsafe
set search_path to pg_catalog, recall, pg_temp
set plan_cache_mode = force_custom_plan
as $function$
declare
    v_turns constant integer := 250;
    v_bytes constant integer := 500000;
begin
    delete from recall.message_words as b
     where b.user_id      = p_user_id
       and b.session_id   = p_session_id
       and b.through_turn >= p_from_turn
       and b.before_turn  < p_through_turn;

    with turn as (
        select m.turn_index, m.search_vector, c.before_turn,
               sum(octet_length(m.search_vector::text)) over (partition by c.before_turn) as bytes
          from recall.message_search as m
         cross join lateral (
                select m.turn_index - 1 - (m.turn_index - p_from_turn) % v_turns
               ) as c (before_turn)
         where m.user_id    = p_user_id
           and m.session_id = p_session_id
           and m.turn_index between p_from_turn and p_through_turn
    ),
    word as (
        select b.before_turn, b.through_turn, u.lexeme,
               string_agg(distinct (t.turn_index - b.before_turn)::text, ',') as positions
          from turn as t
         cross join lateral (
                select case when t.bytes > v_bytes then t.turn_index - 1 else t.before_turn end,
                       case when t.bytes > v_bytes then t.turn_index
                            else least(t.before_turn + v_turns, p_through_turn) end
               ) as b (before_turn, through_turn)
          left join lateral unnest(t.search_vector) as u on true
         group by b.before_turn, b.through_turn, u.lexeme
    )
    insert into recall.message_words (user_id, session_id, before_turn, through_turn, words)
    select p_user_id, p_session_id, w.before_turn, w.through_turn,
           coalesce(string_agg(recall._term_query(w.lexeme)::text || ':' || w.positions, ' '),
                    '')::tsvector
      from word as w
     group by w.before_turn, w.through_turn;
end;
$function$;

comment on function recall._write_word_blocks(uuid, uuid, integer, integer) is
    'Write the blocks of message_words of some turns of a session anew.';
