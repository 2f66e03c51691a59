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
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_settings constant recall.settings := recall._settings(p_job.user_id);
    v_sealed   constant boolean := (p_work -> 'is_sealed')::boolean;
    v_made     jsonb := p_work -> 'made';
    v_memories jsonb;
    v_count    integer;
    v_problem  text;
    v_chat     jsonb;
    v_wanted   jsonb;
begin
    -- The memories, oldest first. Those that have ended since the job was enqueued are left out.
    if not v_made ? 'merges' or v_made -> 'open' <> '[]' then
        select coalesce(jsonb_agg(jsonb_build_object(
                   'memory_id', m.memory_id, 'content', m.content,
                   'observed_at', to_char(m.observed_at at time zone 'UTC', 'YYYY-MM-DD'))
                   order by m.observed_at, m.memory_id), '[]'), count(*)
          into v_memories, v_count
          from unnest(recall._mergeable_memories(
                   p_job.user_id, p_job.payload ->> 'kind',
                   recall._payload_memories(p_job.payload), now())) as m;
    end if;

    -- The model's answer, which numbers the memories as in the question
    if p_work ? 'said' then
        if p_work #>> '{answered,purpose}' = 'merge' then
            select m.o_made, m.o_problem
              into v_made, v_problem
              from recall._made_merges(p_work #> '{said,merges}', p_work #> '{answered,keep}',
                                       v_memories, v_sealed) as m;
        else
            select v.o_made, v.o_problem
              into v_made, v_problem
              from recall._verified_merges(v_made, p_work #> '{said,checks}',
                                           (p_work #>> '{answered,keep,count}')::integer) as v;
        end if;
        if v_problem is not null then
            return jsonb_build_object('problem', v_problem);
        end if;
    end if;

    -- The first question
    if not v_made ? 'merges' then
        if v_count >= 2 then
            v_chat := recall._memories_question(
                p_work, 'merge',
                jsonb_build_array('Topic: ', recall._prompt_piece(
                    p_job.payload ->> 'tag', 100, v_sealed, true), '.'),
                'memories', v_memories, 2, 400 + 80 * v_count, v_settings);
        end if;
        if v_chat is null then
            return jsonb '{"result": {"merges": [], "refused": []}}';
        end if;
        v_chat := jsonb_set(v_chat, '{schema,properties,merges,maxItems}', to_jsonb(v_count / 2));
        v_chat := jsonb_set(v_chat, '{keep,characters}', (
            select to_jsonb(sum(length(m.memory ->> 'content')))
              from jsonb_array_elements(v_memories) as m (memory)));
        return jsonb_build_object('made', v_made, 'chat', v_chat || jsonb_build_object(
            'seal', jsonb '{"merges[].content": "memory"}',
            'sources', jsonb_build_object(
                'negations', to_jsonb(recall._negating_words()),
                'memories', jsonb_path_query_array(
                    v_memories,
                    format('$[0 to %s].content',
                           jsonb_array_length(v_chat #> '{keep,memories}') - 1)::jsonpath))));
    end if;

    -- The second question, for texts that a comparison of words cannot judge: do they say what
    -- their parts say?
    if v_made -> 'open' <> '[]' then
        return jsonb_build_object('made', v_made) || recall._verification_question(
            p_work, v_made -> 'open', v_memories, v_settings);
    end if;

    -- Vectors
    v_wanted := recall._vectors_wanted(
        p_work, p_job.vectors, jsonb_path_query_array(v_made -> 'merges', '$[*].content'));
    return jsonb_build_object('made', v_made, 'items', jsonb_array_length(v_made -> 'merges'))
           || coalesce(v_wanted, jsonb_build_object('result', jsonb_build_object(
               'merges', v_made -> 'merges', 'refused', v_made -> 'refused')
               || recall._vectors_result(
                   p_job.vectors, jsonb_array_length(v_made -> 'merges'), v_settings)));
end;
$function$;

comment on function recall._step_merge(recall.jobs, jsonb) is
    'The step of a merge job (consolidation): merge, verify, embed.';
