-- recall._pack_turns(turns, session, before_turn, budget, settings) -> those that fit, and tokens
-- Greedy by score. Turns of the session from before_turn on stand in its history and are left out.
-- The tokens are those of the block with heading, delimiters and message; 0 for none.
create or replace function recall._pack_turns(
    p_turns       recall.recalled_turn[],
    p_session_id  uuid,
    p_before_turn integer,
    p_budget      bigint,
    p_settings    recall.settings,
    out o_turns   recall.recalled_turn[],
    out o_tokens  bigint
)
language plpgsql
immutable
parallel safe
set search_path from current
as $function$
declare
    v_frame bigint := 48 + p_settings.tokens_per_message;
    v_turn  recall.recalled_turn;
begin
    o_turns  := '{}'::recall.recalled_turn[];
    o_tokens := v_frame;
    foreach v_turn in array p_turns loop
        continue when v_turn.session_id = p_session_id and v_turn.turn_index >= p_before_turn
                      or o_tokens + v_turn.token_count > p_budget;
        o_turns  := o_turns || v_turn;
        o_tokens := o_tokens + v_turn.token_count;
    end loop;
    if o_turns = '{}' then
        o_tokens := 0;
    end if;
end;
$function$;

comment on function recall._pack_turns(recall.recalled_turn[], uuid, integer, bigint,
    recall.settings) is
    'Recalled turns that fit a token budget and do not stand in the history, best first.';
