-- Convert a span of a job to a row of job_phases: priced, with secrets masked.
-- For an encrypted user the text of an error is not stored.
create or replace function recall._phase_row(
    p_job  recall.jobs,
    p_span jsonb
)
returns recall.job_phases
language plpgsql
volatile
parallel unsafe
set search_path from current
as $function$
declare
    v_prompt     constant integer := coalesce((p_span ->> 'prompt_tokens')::integer, 0);
    v_completion constant integer := coalesce((p_span ->> 'completion_tokens')::integer, 0);
    v_model      constant text    := p_span ->> 'model_id';
    v_span  jsonb := p_span;
    v_words text;
begin
    -- Search the error, and a phase or model only when it is not a known one. Most spans have
    -- nothing to search, which saves compiling the pattern: 3 ms whenever the words of a
    -- consolidation have evicted it from PostgreSQL's cache of 32 regular expressions.
    v_words := concat_ws(
        E'\n',
        case when v_span ->> 'phase' <> all ('{extract,consolidate,summary,merge,verify,pattern,'
                                             'embed,persist}'::text[]) then v_span ->> 'phase' end,
        v_span ->> 'error');
    if v_model is not null then
        v_words := concat_ws(E'\n', v_words, case when not exists (
            select from recall.models as m
             where m.model_id in (v_model, case when starts_with(v_model, 'openai:')
                                                then substr(v_model, 8) end))
            then v_model end);
    end if;
    if v_words <> '' and recall._may_hold_secret(v_words) then
        v_span := recall._masked_json(v_span, recall._settings(p_job.user_id));
    end if;
    return row(
        p_job.user_id, p_job.job_id, recall.uuidv7(), p_job.kind, p_job.session_id,
        v_span ->> 'phase', clock_timestamp(), (v_span ->> 'duration_ms')::double precision,
        coalesce((v_span ->> 'items')::integer, 0), v_prompt, v_completion,
        recall._phase_cost(v_span ->> 'model_id', v_prompt, v_completion,
                           (v_span ->> 'cost_microcents')::bigint),
        v_span ->> 'model_id',
        case when v_span ->> 'error' is null then null
             when recall._is_sealed_user(p_job.user_id) then 'not kept: the user is sealed'
             else v_span ->> 'error' end)::recall.job_phases;
end;
$function$;

comment on function recall._phase_row(recall.jobs, jsonb) is
    'A span of a job as a row of job_phases: priced, with secrets masked.';
