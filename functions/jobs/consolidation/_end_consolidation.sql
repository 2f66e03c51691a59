-- Log the prompts and models of a merge or pattern job, and enqueue missing vectors.
-- The audit lists them under the job's id. Extractions log them with their decisions
-- (_apply_decisions). The caller has locked the user's row.
create or replace function recall._end_consolidation(
    p_job      recall.jobs,
    p_settings recall.settings
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
    if recall._has_unembedded(p_job.user_id, p_settings.embedding_model) then
        perform recall._enqueue_job(p_job.user_id, 'embed', null, p_job.user_id::text);
    end if;
end;
$function$;

comment on function recall._end_consolidation(recall.jobs, recall.settings) is
    'Log the prompts and models of a merge or pattern job in the audit, and enqueue missing '
    'vectors.';
