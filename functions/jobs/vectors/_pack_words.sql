-- Add searchable turns of a session to message_words when enough, or p_all, are not there yet.
-- The last block grows up to its limit, so that a search of many sessions reads few blocks. It is
-- written when it grows by half or by 50 turns: a turn is written some three times. Turns up to
-- p_indexed_turn were searchable before; where blocks hold later ones, these are indexed again.
-- The caller has locked the session or the user. So a call adds at most a thousand turns (60 ms); a
-- search reads the others one by one.
create or replace function recall._pack_words(
    p_user_id      uuid,
    p_session_id   uuid,
    p_indexed_turn integer,
    p_through_turn integer,
    p_all          boolean
)
returns void
language plpgsql
volatile
parallel unsafe
set search_path to pg_catalog, recall, pg_temp
set plan_cache_mode = force_custom_plan
as $function$
declare
    v_most   constant integer := 1000;
    v_last   recall.message_words;
    v_turns  integer;
    v_behind integer;
begin
    -- First, since it may cut the blocks in other places.
    perform recall._rewrite_word_blocks(p_user_id, p_session_id, p_indexed_turn + 1,
                                        p_through_turn);
    select b.*
      into v_last
      from recall.message_words as b
     where b.user_id    = p_user_id
       and b.session_id = p_session_id
     order by b.through_turn desc
     limit 1;
    if p_through_turn > coalesce(v_last.through_turn, 0) + v_most then
        -- Counted from a turn that is there: the first thousand may be past their retention.
        select least(p_through_turn, min(m.turn_index) + v_most - 1)
          into p_through_turn
          from recall.message_search as m
         where m.user_id    = p_user_id
           and m.session_id = p_session_id
           and m.turn_index > coalesce(v_last.through_turn, 0);
    end if;
    v_turns  := coalesce(v_last.through_turn - v_last.before_turn, 0);
    v_behind := p_through_turn - coalesce(v_last.through_turn, 0);
    if v_behind > 0 and (p_all or v_behind >= least(50, greatest(4, v_turns / 2))) then
        perform recall._write_word_blocks(
            p_user_id, p_session_id,
            case when v_turns between 1 and 249 then v_last.before_turn + 1
                 else coalesce(v_last.through_turn, 0) + 1 end,
            p_through_turn);
    end if;
end;
$function$;

comment on function recall._pack_words(uuid, uuid, integer, integer, boolean) is
    'Add searchable turns of a session to message_words when enough are not there yet.';
