-- Run the step of a job on the output so far and return what comes next.
-- Each step is one function, read from top to bottom and run again at every call. It returns `made`
-- with one of: `chat`, `embed` or `select`, a question; `result`, the end; `moved`, the session has
-- gone on without this job; `problem`, an error in the model's answer.
create or replace function recall._run_step(
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
    v_step jsonb;
begin
    v_step := case
        when p_job.kind = 'extract' and p_job.payload ->> 'mode' = 'verbatim'
            then recall._step_verbatim(p_job, p_work)
        when p_job.kind = 'extract' then recall._step_extract(p_job, p_work)
        when p_job.kind = 'embed' then recall._step_embed(p_job, p_work)
        when p_job.kind = 'summarize' then recall._step_summarize(p_job, p_work)
        when p_job.kind = 'compact' then recall._step_compact(p_job, p_work)
        when p_job.kind = 'merge' then recall._step_merge(p_job, p_work)
        when p_job.kind = 'pattern' then recall._step_pattern(p_job, p_work)
    end;
    return jsonb_build_object('made', p_work -> 'made') || v_step;
end;
$function$;

comment on function recall._run_step(recall.jobs, jsonb) is
    'Next part of a job: a question, the result, or a problem with the answer.';
