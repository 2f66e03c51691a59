-- Run a pattern job: find what recurs in a user's episodes and what helped.
create or replace function recall._step_pattern(
    p_job  recall.jobs,
    p_work jsonb
)
returns jsonb
language plpgsql
stable
parallel safe
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_settings constant recall.settings := recall._settings(p_job.user_id);
    v_input    constant jsonb := case
        when p_work ? 'said' or not p_work -> 'made' ? 'content'
        then recall._pattern_input(p_job.user_id, p_job.payload) end;
    v_count    constant integer := jsonb_array_length(v_input -> 'episodes');
    v_sealed   constant boolean := (p_work -> 'is_sealed')::boolean;
    v_made     jsonb := p_work -> 'made';
    v_said     jsonb := p_work -> 'said';
    v_unknown  jsonb;
    v_piece    jsonb;
    v_chat     jsonb;
    v_wanted   jsonb;
begin
    -- The model's answer, which numbers the episodes as in the question
    if v_said is not null then
        v_unknown := jsonb_path_query_first(
            v_said, '$.solutions[*].episode ? (@ < 1 || @ > $n)', jsonb_build_object(
                'n', coalesce(jsonb_array_length(p_work #> '{answered,keep,memories}'), 0)));
        if v_unknown is not null then
            return jsonb_build_object('problem', format('there is no episode %s', v_unknown));
        end if;
        v_made := recall._made_pattern(v_said, p_work #> '{answered,keep}', v_input);
    end if;

    -- The question
    if not v_made ? 'content' then
        if v_count > 0 then
            -- The known pattern without the solutions behind its sentence
            v_piece := recall._prompt_piece(
                split_part(v_input #>> '{pattern,content}', recall._pattern_separator(), 1), 600,
                v_sealed, p_row => v_input #> '{pattern,memory_id}');
            if jsonb_typeof(v_piece) = 'object' then
                v_piece := v_piece || jsonb_build_object('until', recall._pattern_separator());
            end if;
            v_chat := recall._memories_question(
                p_work, 'pattern', recall._prompt_block('known', jsonb_build_array(v_piece)),
                'episodes', v_input -> 'episodes', 1, 400 + 60 * v_count, v_settings);
        end if;
        if v_chat is null then
            return jsonb '{"result": {"content": null}}';
        end if;
        return jsonb_build_object('made', v_made, 'chat', jsonb_set(
            v_chat, '{schema,properties,solutions,maxItems}', to_jsonb(v_count))
            || jsonb_build_object(
            'seal', jsonb '{"pattern": "memory", "solutions[].solution": "solution",
                            "tags[]": "tag"}',
            'sources', jsonb_build_object(
                'separator', recall._pattern_separator(),
                'known', coalesce(v_input #> '{pattern,solutions}', '[]'),
                'episodes', (
                    select jsonb_agg(e.episode - 'content' order by e.place)
                      from jsonb_array_elements(v_input -> 'episodes')
                           with ordinality as e (episode, place)
                     where e.place <= jsonb_array_length(v_chat #> '{keep,memories}')))));
    end if;

    -- Its vector
    if v_made ->> 'content' is not null then
        v_wanted := recall._vectors_wanted(p_work, p_job.vectors,
                                           jsonb_build_array(v_made -> 'content'));
    end if;
    return jsonb_build_object('made', v_made,
                              'items', (v_made ->> 'content' is not null)::integer)
           || coalesce(v_wanted, jsonb_build_object('result', v_made - 'made_by'));
end;
$function$;


comment on function recall._step_pattern(recall.jobs, jsonb) is
    'The step of a pattern: pattern, embed.';
