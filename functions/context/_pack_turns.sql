-- Pack recalled turns into a budget, greedily by score, and count their tokens.
-- Turns of the session from p_before_turn on are in its history and left out. The first turn of a
-- session and day also pays for their heading. o_tokens includes introduction (20), delimiters and
-- message; it is 0 for none.
create or replace function recall._pack_turns(
    p_request     recall.context_request,
    p_turns       recall.recalled_turn[],
    p_before_turn integer,
    p_budget      bigint,
    out o_turns   recall.recalled_turn[],
    out o_tokens  bigint
)
language plpgsql
immutable
parallel safe
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_session_id constant uuid   := (p_request.session).session_id;
    v_frame      constant bigint := 32 + (p_request.settings).tokens_per_message;
    v_turn  recall.recalled_turn;
    v_cost  bigint;
    v_key   text;
    v_said  text[] := '{}'::text[];
begin
    o_turns  := '{}'::recall.recalled_turn[];
    o_tokens := v_frame;
    foreach v_turn in array p_turns loop
        continue when v_turn.session_id = v_session_id and v_turn.turn_index >= p_before_turn;
        v_key  := v_turn.session_id || v_turn.heading;
        v_cost := v_turn.token_count
                  + case when v_key = any (v_said) then 0 else v_turn.heading_tokens end;
        continue when o_tokens + v_cost > p_budget;
        o_turns  := o_turns || v_turn;
        o_tokens := o_tokens + v_cost;
        v_said   := v_said || v_key;
    end loop;
    if o_turns = '{}' then
        o_tokens := 0;
    end if;
end;
$function$;

comment on function recall._pack_turns(recall.context_request, recall.recalled_turn[],
    integer, bigint) is
    'Recalled turns that fit a token budget and are not in the history, best first.';
