-- Build the question for a summary: the summary before, and the turns after it that fit.
-- Turns beyond the model's window go part by part, each with the summary of the part before.
create or replace function recall._summary_question(
    p_work     jsonb,
    p_purpose  text,
    p_before   text,
    p_messages jsonb,
    p_through  jsonb,
    p_target   integer,
    p_limits   jsonb,
    p_settings recall.settings
)
returns jsonb
language plpgsql
stable
parallel safe
set search_path from current
as $function$
declare
    -- A model may use twice the target's tokens before its answer is cut off.
    v_spare     constant integer := 2;
    v_frame     constant integer := 64;
    v_is_sealed constant boolean := (p_work -> 'is_sealed')::boolean;
    v_prompt    constant recall.prompts := recall._prompt(p_purpose, p_settings.prompt_language);
    v_limit     constant integer := recall._answer_room(p_work, p_purpose,
                                                        p_target * v_spare + v_frame);
    v_target    constant integer := least(p_target, (v_limit - v_frame) / v_spare);
    v_head      constant jsonb   := recall._prompt_parts(array[
        jsonb_build_array(format('At most %s words.', v_target * 6 / 10)),
        recall._prompt_block('summary', jsonb_build_array(
            recall._prompt_piece(p_before, v_limit * 2, v_is_sealed)))]);
    v_room      constant integer := recall._prompt_room(p_work, v_prompt, v_limit,
                                                        recall._pieces_tokens(v_head));
    v_schema    constant jsonb   := jsonb_set(v_prompt.schema, '{properties,summary,maxLength}',
                                              to_jsonb(v_target * 6));
    v_turns     record;
begin
    v_turns := recall._leading_turns(p_messages, p_limits, v_room, v_is_sealed);
    return jsonb_build_object('chat', jsonb_build_object(
        'purpose', p_purpose,
        'instructions', v_prompt.content,
        'pieces', recall._prompt_parts(array[
            v_head, recall._prompt_block('conversation', v_turns.o_pieces)]),
        'schema', v_schema,
        'max_tokens', v_limit,
        'spare', greatest(0, v_room - v_turns.o_tokens),
        'seal', jsonb '{"summary": "summary"}',
        'keep', jsonb_build_object(
            'prompt', recall._prompt_name(v_prompt),
            'through_turn', p_through,
            'read', p_messages -> (v_turns.o_taken - 1) -> 'turn_index',
            'taken', v_turns.o_taken)));
end;
$function$;

comment on function recall._summary_question(jsonb, text, text, jsonb, jsonb, integer, jsonb,
    recall.settings) is
    'Question for a summary of the turns that fit, with the summary before them.';
