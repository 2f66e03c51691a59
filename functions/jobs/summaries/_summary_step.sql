-- Return what comes next for a summary, rolling or of a compaction.
-- `made` has the text so far, the turn it reaches (`read`) and the last turn to cover
-- (`through_turn`); p_input has the messages in between. Turns beyond the model's window go part by
-- part, each with the summary of the part before.
create or replace function recall._summary_step(
    p_job     recall.jobs,
    p_work    jsonb,
    p_purpose text,
    p_input   jsonb,
    p_target  integer,
    p_limits  jsonb
)
returns jsonb
language plpgsql
stable
parallel safe
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    -- A model may use twice the target's tokens before its answer is cut off.
    v_spare    constant integer := 2;
    v_frame    constant integer := 64;
    v_settings constant recall.settings := recall._settings(p_job.user_id);
    v_sealed   constant boolean := (p_work -> 'is_sealed')::boolean;
    v_keep     constant jsonb   := p_work #> '{answered,keep}';
    v_made     jsonb := p_work -> 'made';
    v_prompt   recall.prompts;
    v_limit    integer;
    v_target   integer;
    v_head     jsonb;
    v_room     integer;
    v_pieces   jsonb;
    v_taken    integer;
    v_tokens   integer;
    v_wanted   jsonb;
begin
    -- The model's answer
    if p_work ? 'said' then
        if p_work #>> '{said,summary}' = '' then
            return jsonb '{"problem": "summary is empty"}';
        end if;
        v_made := (v_keep - 'prompt')
                  || jsonb_build_object('content', p_work #> '{said,summary}');
    end if;

    -- The question: the summary before, and the remaining turns that fit
    if p_input -> 'messages' <> '[]' then
        v_prompt := recall._prompt(p_purpose, v_settings.prompt_language);
        v_limit  := recall._answer_room(p_work, p_purpose, p_target * v_spare + v_frame);
        v_target := least(p_target, (v_limit - v_frame) / v_spare);
        v_head   := recall._prompt_parts(array[
            jsonb_build_array(format('At most %s words.', v_target * 6 / 10)),
            recall._prompt_block('summary', jsonb_build_array(recall._prompt_piece(
                coalesce(v_made ->> 'content', p_input ->> 'summary'), v_limit * 2, v_sealed)))]);
        v_room   := recall._prompt_room(p_work, v_prompt, v_limit, recall._pieces_tokens(v_head));
        select t.o_pieces, t.o_taken, t.o_tokens
          into v_pieces, v_taken, v_tokens
          from recall._leading_turns(p_input -> 'messages', p_limits, v_room, v_sealed) as t;
        return jsonb_build_object('made', v_made, 'items', v_keep -> 'taken', 'chat',
            jsonb_build_object(
                'purpose', p_purpose,
                'instructions', v_prompt.content,
                'pieces', recall._prompt_parts(array[
                    v_head, recall._prompt_block('conversation', v_pieces)]),
                'schema', jsonb_set(v_prompt.schema, '{properties,summary,maxLength}',
                                    to_jsonb(v_target * 6)),
                'max_tokens', v_limit,
                'spare', greatest(0, v_room - v_tokens),
                'seal', jsonb '{"summary": "summary"}',
                'keep', jsonb_build_object(
                    'prompt', recall._prompt_name(v_prompt),
                    'through_turn', p_input -> 'through_turn',
                    'read', p_input -> 'messages' -> (v_taken - 1) -> 'turn_index',
                    'taken', v_taken)));
    end if;

    -- Its vector
    if v_made ? 'content' then
        v_wanted := recall._vectors_wanted(p_work, p_job.vectors,
                                           jsonb_build_array(v_made -> 'content'));
    end if;
    return jsonb_build_object('made', v_made, 'items', v_keep -> 'taken')
           || coalesce(v_wanted, jsonb_build_object('result', jsonb_strip_nulls(
               jsonb_build_object('content', v_made -> 'content'))));
end;
$function$;

comment on function recall._summary_step(recall.jobs, jsonb, text, jsonb, integer, jsonb) is
    'Next part of a summary: a question, a vector or the result.';
