-- Return a span of a job as a row of job_phases: priced, without secrets.
-- Of an encrypted user the text of an error is not kept.
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
    v_span jsonb := p_span;
begin
    -- Most spans have nothing to look at, and need no settings.
    if recall._may_hold_secret(concat_ws(E'\n', v_span ->> 'phase', v_span ->> 'model_id',
                                         v_span ->> 'error')) then
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
    'A span of a job as a row of job_phases: priced, without secrets.';
