-- Run a verbatim extraction: store the user's statements unchanged, with vectors of the worker.
-- For an encrypted user the worker chooses the statements, by the same rule.
create or replace function recall._step_verbatim(
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
    v_session  constant recall.sessions := recall._read_session(p_job.user_id, p_job.session_id);
    v_sealed   constant boolean := (p_work -> 'is_sealed')::boolean;
    v_made       jsonb := (p_work -> 'made') || coalesce(p_work #> '{answered,keep}', '{}');
    v_through    integer;
    v_window     jsonb;
    v_items      integer;
    v_candidates jsonb;
    v_wanted     jsonb;
begin
    -- The turns of the question in flight, or those that are due
    if (v_made ->> 'from_turn')::integer <> v_session.extracted_through_turn then
        return jsonb '{"moved": true}';
    end if;
    v_through := coalesce((v_made ->> 'through_turn')::integer,
                          least(v_session.turn_count,
                                v_session.extracted_through_turn + v_settings.extract_batch));
    v_window  := jsonb_build_object('from_turn', v_session.extracted_through_turn,
                                    'through_turn', v_through);

    -- The statements
    if not v_sealed then
        v_candidates := recall._verbatim_candidates(v_session, v_through, v_settings,
                                                    v_made -> 'message_ids');
        if jsonb_array_length(v_candidates) <> jsonb_array_length(v_made -> 'message_ids') then
            -- The settings now allow fewer characters: the vectors belong to other texts.
            return jsonb '{"moved": true}';
        end if;
        v_window := v_window || jsonb_build_object('message_ids', jsonb_path_query_array(
            v_candidates, '$[*].source_turn_ids[0]'));
    else
        if p_work ? 'said' then
            v_made  := v_made || jsonb_build_object('candidates', (
                select coalesce(jsonb_agg(jsonb_strip_nulls(jsonb_build_object(
                           'content', e.item -> 'content',
                           'kind', 'fact',
                           'confidence', 0.9,
                           'token_count', case when (e.item ->> 'token_count')::integer >= 0
                                               then e.item -> 'token_count' end,
                           'metadata', jsonb '{"verbatim": true}',
                           'turns', jsonb_build_array(e.item -> 'turn'))) order by e.place), '[]')
                  from jsonb_array_elements(p_work #> '{said,candidates}')
                       with ordinality as e (item, place)
                 where recall._is_sealed(e.item ->> 'content')));
            v_items := jsonb_array_length(v_made -> 'candidates');
        elsif not v_made ? 'candidates' then
            return jsonb_build_object(
                'made', p_work -> 'made',
                'select', recall._statements_question(v_session, v_window, v_settings));
        end if;
        v_candidates := v_made -> 'candidates';
    end if;

    -- Vectors
    v_wanted := recall._vectors_wanted(p_work, p_job.vectors,
                                       jsonb_path_query_array(v_candidates, '$[*].content'));
    if v_wanted is not null then
        return jsonb_build_object('made', v_made, 'items', v_items)
               || jsonb_set(v_wanted, '{embed,keep}', v_window);
    end if;
    return jsonb_build_object('made', v_made, 'items', v_items, 'result',
        v_window || case when v_sealed then jsonb_build_object('candidates', v_candidates)
                         else jsonb '{}' end
        || recall._vectors_result(p_job.vectors, jsonb_array_length(v_candidates), v_settings));
end;
$function$;

comment on function recall._step_verbatim(recall.jobs, jsonb) is
    'The step of a verbatim extraction: select (for an encrypted user), embed.';
