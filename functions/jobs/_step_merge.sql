-- Run a merge job (consolidation): replace several memories that share a tag and kind by fewer.
-- The model sees the oldest memories that fit its window; memories that no text replaces stay
-- unchanged.
create or replace function recall._step_merge(
    p_job  recall.jobs,
    p_work jsonb
)
returns jsonb
language plpgsql
stable
parallel safe
set search_path from current
as $function$
declare
    v_settings constant recall.settings := recall._settings(p_job.user_id);
    v_input    constant jsonb := case
        when not p_work -> 'made' ? 'merges' or p_work #> '{made,open}' <> '[]'
        then recall._merge_input(p_job.user_id, p_job.payload) end;
    v_count    constant integer := jsonb_array_length(v_input -> 'memories');
    v_sealed   constant boolean := (p_work -> 'is_sealed')::boolean;
    v_prompt   recall.prompts;
    v_made     jsonb := p_work -> 'made';
    v_problem  text;
    v_limit    integer;
    v_topic    jsonb;
    v_room     integer;
    v_lines    record;
    v_wanted   jsonb;
begin
    -- The model's answer, which numbers the memories as in the question
    if p_work ? 'said' then
        v_problem := case p_work #>> '{answered,purpose}'
            when 'merge' then recall._merges_problem(
                p_work #> '{said,merges}', p_work #> '{answered,keep,memories}', v_sealed)
            else recall._checks_problem(p_work #> '{said,checks}',
                                        (p_work #> '{answered,keep,count}')::integer) end;
        if v_problem is not null then
            return jsonb_build_object('problem', v_problem);
        end if;
        v_made := case p_work #>> '{answered,purpose}'
            when 'merge' then recall._judged_merges(
                recall._made_merges(p_work #> '{said,merges}', p_work #> '{answered,keep}'),
                v_input -> 'memories')
            else recall._verified_merges(v_made, p_work #> '{said,checks}') end;
    end if;

    -- The first question
    if not v_made ? 'merges' then
        if v_count < 2 then
            return jsonb '{"result": {"merges": [], "refused": []}}';
        end if;
        v_prompt := recall._prompt('merge', v_settings.prompt_language);
        v_limit := recall._answer_room(p_work, 'merge', 400 + 80 * v_count);
        v_topic := jsonb_build_array('Topic: ', recall._prompt_piece(v_input ->> 'tag', 100,
                                                                     v_sealed, true), '.');
        v_room  := recall._prompt_room(p_work, v_prompt, v_limit, recall._pieces_tokens(v_topic));
        v_lines := recall._leading_lines(
            recall._memory_lines(v_input -> 'memories', v_sealed), v_room);
        if v_lines.o_taken < 2 then
            return jsonb '{"result": {"merges": [], "refused": []}}';
        end if;
        return jsonb_build_object('made', v_made, 'chat', jsonb_build_object(
            'purpose', 'merge',
            'instructions', v_prompt.content,
            'pieces', recall._prompt_parts(array[
                v_topic, recall._prompt_block('memories', v_lines.o_pieces)]),
            'schema', jsonb_set(v_prompt.schema, '{properties,merges,maxItems}',
                                to_jsonb(v_count / 2)),
            'max_tokens', v_limit,
            'spare', v_room - v_lines.o_tokens,
            'seal', jsonb '{"merges[].content": "memory"}',
            'sources', jsonb_build_object(
                'negations', to_jsonb(recall._negating_words()),
                'memories', jsonb_path_query_array(
                    v_input -> 'memories',
                    format('$[0 to %s].content', greatest(v_lines.o_taken, 1) - 1)::jsonpath)),
            'keep', jsonb_build_object(
                'prompt', recall._prompt_name(v_prompt),
                'characters', (select sum(length(m.memory ->> 'content'))
                                 from jsonb_array_elements(v_input -> 'memories') as m (memory)),
                'memories', jsonb_path_query_array(
                    v_input -> 'memories',
                    format('$[0 to %s].memory_id', v_lines.o_taken - 1)::jsonpath))));
    end if;

    -- The second question, for texts that a comparison of words cannot judge: do they say what
    -- their parts say?
    if v_made -> 'open' <> '[]' then
        return jsonb_build_object('made', v_made) || recall._verification_question(
            p_work, v_made -> 'open', v_input -> 'memories', v_settings);
    end if;

    -- Vectors
    v_wanted := recall._vectors_wanted(p_work, p_job.vectors, (
        select coalesce(jsonb_agg(recall._embed_piece(m.merge ->> 'content', v_sealed)
                                  order by m.place), '[]')
          from jsonb_array_elements(v_made -> 'merges') with ordinality as m (merge, place)));
    return jsonb_build_object('made', v_made, 'items', jsonb_array_length(v_made -> 'merges'))
           || coalesce(v_wanted, jsonb_build_object('result', jsonb_build_object(
               'merges', v_made -> 'merges', 'refused', v_made -> 'refused')
               || recall._vectors_result(
                   p_job.vectors, jsonb_array_length(v_made -> 'merges'), v_settings)));
end;
$function$;

comment on function recall._step_merge(recall.jobs, jsonb) is
    'The step of a merge job (consolidation): merge, verify, embed.';
