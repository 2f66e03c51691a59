-- Return what comes next for a summary, rolling or of a compaction.
-- `made` has the text so far, the turn it reaches (`read`) and the last turn to cover
-- (`through_turn`).
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
set search_path from current
as $function$
declare
    v_settings constant recall.settings := recall._settings(p_job.user_id);
    v_keep     constant jsonb := p_work #> '{answered,keep}';
    v_made     jsonb := p_work -> 'made';
    v_through  jsonb;
    v_messages jsonb;
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

    -- The remaining turns
    v_through := coalesce(v_made -> 'through_turn', p_input -> 'through_turn');
    select coalesce(jsonb_agg(e.message order by e.place), '[]')
      into v_messages
      from jsonb_array_elements(p_input -> 'messages') with ordinality as e (message, place)
     where (e.message ->> 'turn_index')::integer <= (v_through #>> '{}')::integer
       and (e.message ->> 'turn_index')::integer > coalesce((v_made ->> 'read')::integer, 0);
    if v_messages <> '[]' then
        return jsonb_build_object('made', v_made, 'items', v_keep -> 'taken')
               || recall._summary_question(
                      p_work, p_purpose, coalesce(v_made ->> 'content', p_input ->> 'summary'),
                      v_messages, v_through, p_target, p_limits, v_settings);
    end if;

    -- Its vector
    if v_made ? 'content' then
        v_wanted := recall._vectors_wanted(p_work, p_job.vectors, jsonb_build_array(
            recall._embed_piece(v_made ->> 'content', (p_work -> 'is_sealed')::boolean)));
    end if;
    return jsonb_build_object('made', v_made, 'items', v_keep -> 'taken')
           || coalesce(v_wanted, jsonb_build_object('result', jsonb_strip_nulls(
               jsonb_build_object('content', v_made -> 'content'))));
end;
$function$;

comment on function recall._summary_step(recall.jobs, jsonb, text, jsonb, integer, jsonb) is
    'Next part of a summary: a question, a vector or the result.';
