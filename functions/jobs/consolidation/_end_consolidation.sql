-- Log the prompts and models of a merge or pattern job, and enqueue missing vectors.
-- The audit lists them under the job's id. Extractions log them with their decisions
-- (_apply_decisions). The user is due again for the sweep that enqueued the job. The caller has
-- locked the user's row.
create or replace function recall._end_consolidation(
    p_job         recall.jobs,
    p_settings    recall.settings,
    p_is_embedded boolean
)
returns void
language plpgsql
volatile
parallel unsafe
set search_path to pg_catalog, recall, pg_temp
as $function$
begin
    if p_job.work #> '{made,made_by}' is not null then
        perform recall._log_events(
            p_job.user_id, array[p_job.job_id], 'decided',
            array[jsonb_build_object('made_by', p_job.work #> '{made,made_by}')], p_job.job_id,
            array[null::bytea],
            p_merge_due => p_job.kind = 'merge', p_pattern_due => p_job.kind = 'pattern');
    else
        perform recall._count_memories(p_job.user_id, 0, p_job.kind = 'merge',
                                       p_job.kind = 'pattern');
    end if;
    -- A job that has the vectors of its texts adds no memory without one.
    if not p_is_embedded
       and recall._has_unembedded(p_job.user_id, p_settings.embedding_model) then
        perform recall._enqueue_job(p_job.user_id, 'embed', null, p_job.user_id::text);
    end if;
end;
$function$;

comment on function recall._end_consolidation(recall.jobs, recall.settings, boolean) is
    'End a merge or pattern job: log its prompts and models, mark the user due, enqueue missing '
    'vectors.';
