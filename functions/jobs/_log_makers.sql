-- Log the prompts and models that a job used, in the audit under the job's id.
-- Extractions log them with their decisions (_apply_decisions). The caller has locked the user's
-- row.
create or replace function recall._log_makers(
    p_job recall.jobs
)
returns void
language plpgsql
volatile
parallel unsafe
set search_path from current
as $function$
begin
    if p_job.work #> '{made,made_by}' is not null then
        perform recall._log_event(
            p_job.user_id, p_job.job_id, 'decided',
            jsonb_build_object('made_by', p_job.work #> '{made,made_by}'), p_job.job_id);
    end if;
end;
$function$;

comment on function recall._log_makers(recall.jobs) is
    'Log the prompts and models that a job used, in the audit under the job''s id.';
