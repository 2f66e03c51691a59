-- Apply a step's result; return false, without effect, when the session has changed meanwhile.
-- Raises  RC001, RC003, RC004 for an invalid result.
create or replace function recall._apply_result(
    p_job    recall.jobs,
    p_result jsonb
)
returns boolean
language plpgsql
volatile
parallel unsafe
set search_path from current
as $function$
begin
    return case
        when p_job.kind = 'extract' and p_job.payload ->> 'mode' = 'verbatim'
            then recall._finish_verbatim(p_job, p_result)
        when p_job.kind = 'extract' then recall._finish_extract(p_job, p_result)
        when p_job.kind = 'embed' then recall._finish_embed(p_job, p_result)
        when p_job.kind = 'summarize' then recall._finish_summarize(p_job, p_result)
        when p_job.kind = 'compact' then recall._finish_compact(p_job, p_result)
        when p_job.kind = 'merge' then recall._finish_merge(p_job, p_result)
        when p_job.kind = 'pattern' then recall._finish_pattern(p_job, p_result)
    end;
end;
$function$;

comment on function recall._apply_result(recall.jobs, jsonb) is
    'Apply a step''s result by the kind of its job; false, without effect, when the session has '
    'changed meanwhile.';
