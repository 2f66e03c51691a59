-- Verbatim extraction: the user's statements as they stand; the worker only lends vectors.
-- The statements of an encrypted user are chosen by the worker, by the same rule.
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
    v_sealed   constant boolean := (p_work -> 'is_sealed')::boolean;
    v_made       jsonb := (p_work -> 'made') || coalesce(p_work #> '{answered,keep}', '{}');
    v_window     jsonb;
    v_items      integer;
    v_candidates jsonb;
    v_texts      jsonb;
    v_digest     text;
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

    -- The statements
    if not v_sealed then
        v_candidates := recall._verbatim_candidates(
            v_session, (v_window ->> 'through_turn')::integer, v_settings);
    else
        if p_work ? 'said' then
            v_made  := v_made || recall._made_statements(p_work -> 'said');
            v_items := jsonb_array_length(v_made -> 'candidates');
        elsif not v_made ? 'candidates' then
            return jsonb_build_object(
                'made', p_work -> 'made',
                'select', recall._statements_question(p_job, v_window));
        end if;
        v_candidates := v_made -> 'candidates';
    end if;

    -- Vectors
    v_texts := (
        select coalesce(jsonb_agg(recall._embed_piece(c.candidate ->> 'content', v_sealed)
                                  order by c.place), '[]')
          from jsonb_array_elements(v_candidates) with ordinality as c (candidate, place));
    v_digest := encode(sha256(convert_to(v_texts::text, 'UTF8')), 'hex');
    if v_made ->> 'texts' <> v_digest then
        -- Settings have changed what a statement is: vectors so far are of other texts.
        v_made := v_made - 'vectors';
    end if;
    v_wanted := recall._vectors_wanted(p_work, v_made, v_texts);
    if v_wanted is not null then
        return jsonb_build_object('made', v_made, 'items', v_items)
               || jsonb_set(v_wanted, '{embed,keep}',
                            v_window || jsonb_build_object('texts', v_digest));
    end if;
    return jsonb_build_object('made', v_made, 'items', v_items, 'result',
        v_window || case when v_sealed then jsonb_build_object('candidates', v_candidates)
                         else jsonb '{}' end
        || recall._vectors_result(v_made, jsonb_array_length(v_candidates), v_settings));
end;
$function$;

comment on function recall._step_verbatim(recall.jobs, jsonb) is
    'The step of a verbatim extraction: select (of an encrypted user), embed.';
