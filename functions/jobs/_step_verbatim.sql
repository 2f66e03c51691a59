-- Verbatim extraction: the user's statements as they stand; the worker only lends vectors.
create or replace function recall._step_verbatim(
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
    v_session  constant recall.sessions := recall._read_session(p_job.user_id, p_job.session_id);
    v_made       jsonb := (p_work -> 'made') || coalesce(p_work #> '{answered,keep}', '{}');
    v_window     jsonb;
    v_candidates jsonb;
    v_wanted     jsonb;
begin
    -- The turns whose vectors are on their way, or those that are due
    v_window := jsonb_build_object(
        'from_turn', coalesce((v_made ->> 'from_turn')::integer, v_session.extracted_through_turn),
        'through_turn', coalesce(
            (v_made ->> 'through_turn')::integer,
            least(v_session.turn_count,
                  v_session.extracted_through_turn + v_settings.extract_batch)));
    if (v_window ->> 'from_turn')::integer <> v_session.extracted_through_turn then
        return jsonb '{"moved": true}';
    end if;

    v_candidates := recall._verbatim_candidates(
        v_session, (v_window ->> 'through_turn')::integer, v_settings);
    v_wanted := recall._vectors_wanted(p_work, v_made, jsonb_path_query_array(
        v_candidates, '$[*].content'));
    if v_wanted is not null then
        return jsonb_build_object('made', v_made)
               || jsonb_set(v_wanted, '{embed,keep}', v_window);
    end if;
    return jsonb_build_object('made', v_made, 'result', v_window || recall._vectors_result(
        v_made, jsonb_array_length(v_candidates), v_settings));
end;
$function$;

comment on function recall._step_verbatim(recall.jobs, jsonb) is
    'The step of a verbatim extraction: embed.';
