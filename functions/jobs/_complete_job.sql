-- Apply a result and delete its job; make the job due again when the session has changed meanwhile.
-- The span "persist" records how long this took.
-- Raises  RC001, RC003, RC004 for an invalid result.
create or replace function recall._complete_job(
    p_job    recall.jobs,
    p_result jsonb
)
returns jsonb
language plpgsql
volatile
parallel unsafe
set search_path from current
set plan_cache_mode = force_generic_plan
as $function$
declare
    v_started constant timestamptz := clock_timestamp();
    v_done    boolean;
    v_span    recall.job_phases;
begin
    v_done := recall._apply_result(p_job, p_result);
    v_span := recall._persist_phase(p_job, p_result, v_done, v_started);
    perform recall._write_phases(array[v_span]);
    if not v_done then
        return recall._defer_job(p_job, '{}', 'the session moved on');
    end if;
    delete from recall.jobs as j
     where j.user_id = p_job.user_id
       and j.job_id  = p_job.job_id;
    return jsonb_build_object('type', 'done', 'outcome', jsonb_build_object(
        'kind', p_job.kind, 'items', v_span.items)
        || case when p_result -> 'refused' <> '[]'
                then jsonb_build_object('refused', jsonb_array_length(p_result -> 'refused'))
                else jsonb '{}' end);
end;
$function$;

comment on function recall._complete_job(recall.jobs, jsonb) is
    'Apply a result and complete its job, or defer the job; returns what next_request returns.';
