-- Build the span that times the effect of a job.
create or replace function recall._persist_phase(
    p_job     recall.jobs,
    p_result  jsonb,
    p_done    boolean,
    p_started timestamptz
)
returns recall.job_phases
language plpgsql
volatile
parallel unsafe
set search_path from current
as $function$
declare
    v_ms numeric := 1000 * extract(epoch from clock_timestamp() - p_started);
begin
    return recall._phase_row(p_job, jsonb_build_object(
        'phase', 'persist',
        'duration_ms', greatest(v_ms, 0),
        'items', case when p_done then recall._result_items(p_result) else 0 end,
        'error', case when not p_done then 'the session moved on' end));
end;
$function$;

comment on function recall._persist_phase(recall.jobs, jsonb, boolean, timestamptz) is
    'The span persist: how long the effect of a job took in SQL, and how many items it stored.';
