-- Run an extraction by a model: facts and episodes of turns, vectors, decisions on candidates.
-- The model decides only on candidates that SQL cannot settle. When the turns exceed its window,
-- the result ends at the last turn that fits, and another job takes the rest.
create or replace function recall._step_extract(
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
    v_keep     constant jsonb := p_work #> '{answered,keep}';
    v_purpose  constant text  := case when p_work ? 'said' then p_work #>> '{answered,purpose}' end;
    v_made     jsonb := p_work -> 'made';
    v_session  recall.sessions;
    v_items    integer;
    v_decided  jsonb;
    v_problem  text;
    v_wanted   jsonb;
    v_open     jsonb;
begin
    -- The model's answer
    if v_purpose = 'extract' then
        v_made  := recall._made_extraction(p_work -> 'said', v_keep);
        v_items := jsonb_array_length(v_made -> 'candidates')
                   + jsonb_array_length(v_made -> 'episodes');
    elsif v_purpose = 'consolidate' then
        select d.o_decisions, d.o_problem
          into v_decided, v_problem
          from recall._made_decisions(p_work #> '{said,decisions}', v_keep -> 'open') as d;
        if v_problem is not null then
            return jsonb_build_object('problem', v_problem);
        end if;
        v_made  := v_made || jsonb_build_object(
            'decisions', (v_made -> 'decisions') || v_decided, 'is_decided', v_keep -> 'is_last');
        v_items := jsonb_array_length(v_decided);
    end if;

    -- The first question: facts and episodes
    if not v_made ? 'candidates' then
        return jsonb_build_object('made', v_made)
               || recall._extraction_question(p_job, p_work, v_settings);
    end if;
    -- Another extraction makes further questions useless. The effect compares the cursor again.
    if v_made -> 'is_decided' is distinct from 'true' then
        v_session := recall._read_session(p_job.user_id, p_job.session_id);
        if (v_made ->> 'from_turn')::integer <> v_session.extracted_through_turn then
            return jsonb '{"moved": true}';
        end if;
    end if;

    -- Vectors
    v_wanted := recall._vectors_wanted(p_work, p_job.vectors, jsonb_path_query_array(
        (v_made -> 'candidates') || (v_made -> 'episodes'), '$[*].content'));
    if v_wanted is not null then
        return jsonb_build_object('made', v_made, 'items', v_items) || v_wanted;
    end if;

    -- The second question: decisions on the candidates that are not settled
    if v_made -> 'is_decided' is distinct from 'true' then
        v_open := recall._undecided_candidates(v_session, v_made, p_job.vectors, v_settings);
    end if;
    if v_open <> '[]' then
        return jsonb_build_object('made', v_made, 'items', v_items)
               || recall._consolidation_question(p_work, v_open, v_settings);
    end if;
    return jsonb_build_object('made', v_made, 'items', v_items, 'result',
        v_made - '{made_by,is_decided}'::text[]
        || recall._vectors_result(
               p_job.vectors,
               jsonb_array_length(v_made -> 'candidates')
               + jsonb_array_length(v_made -> 'episodes'), v_settings));
end;
$function$;

comment on function recall._step_extract(recall.jobs, jsonb) is
    'The step of an extraction by a model: extract, embed, consolidate.';
