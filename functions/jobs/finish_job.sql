-- recall.finish_job(user, job, token, result, phases) -> done?
-- The effect and the job's completion in one transaction. False, and no effect, when the lease is
-- no longer the caller's or the world moved; then the job is due again. What the step has cost was
-- spent in any case; the span persist says what the effect took in here.
-- Locks   the user, the job, the session, what the effect needs.
-- Raises  RC003, RC004 for a result that is none; the job stays as it is.
create or replace function recall.finish_job(
    p_user_id     uuid,
    p_job_id      uuid,
    p_lease_token uuid,
    p_result      jsonb default '{}',
    p_phases      jsonb default '[]'
)
returns boolean
language plpgsql
volatile
parallel unsafe
security definer
set search_path from current
set plan_cache_mode = force_generic_plan
as $function$
declare
    v_job     recall.jobs;
    v_phases  recall.job_phases[];
    v_done    boolean;
begin
    perform recall._check_user(p_user_id);
    perform recall._check_json(p_result, 'p_result');
    perform recall._check_json(p_phases, 'p_phases');
    v_job := recall._read_leased_job(p_user_id, p_job_id, p_lease_token);
    if v_job.job_id is null then
        return false;
    end if;

    v_phases := recall._phase_rows(v_job, p_phases);
    perform recall._add_usage(v_phases);

    v_done := recall._complete_job(v_job, p_result) ->> 'type' = 'done';
    perform recall._write_phases(v_phases);
    perform recall._add_spending(v_phases);
    return v_done;
end;
$function$;

comment on function recall.finish_job(uuid, uuid, uuid, jsonb, jsonb) is
    'Apply a job''s result and complete it, or do nothing and return false.';
