-- Return a leased job with an error; return false when the caller no longer holds it.
-- The cost of a failed attempt is recorded like that of a finished one.
-- Locks   the user, the job, the session.
create or replace function recall.fail_job(
    p_user_id     uuid,
    p_job_id      uuid,
    p_lease_token uuid,
    p_error       text,
    p_retry       boolean default true,
    p_phases      jsonb   default '[]'
)
returns boolean
language plpgsql
volatile
parallel unsafe
security definer
set search_path to pg_catalog, recall, pg_temp
set plan_cache_mode = force_generic_plan
as $function$
declare
    v_error  text;
    v_job    recall.jobs;
    v_phases recall.job_phases[];
begin
    perform recall._check_user(p_user_id);
    v_job := recall._lock_leased_job(p_user_id, p_job_id, p_lease_token);
    if v_job.job_id is null then
        return false;
    end if;

    v_error := recall._error_text(p_user_id, p_error);
    -- A failure must always be reportable, so malformed spans are left out, which last_error
    -- mentions. Raising RC003 would leave the job to its lease and lose its error.
    begin
        perform recall._check_json(p_phases, 'p_phases');
        v_phases := recall._phase_rows(v_job, coalesce(p_phases, '[]'));
    exception when sqlstate 'RC003' then
        v_error := v_error || ' (its spans are not recorded: ' || sqlerrm || ')';
    end;

    perform recall._add_usage(v_phases);
    perform recall._return_job(v_job, clock_timestamp() + recall._backoff(v_job.attempts),
                               v_error, coalesce(p_retry, true));
    perform recall._record_spans(v_phases);
    return true;
end;
$function$;

comment on function recall.fail_job(uuid, uuid, uuid, text, boolean, jsonb) is
    'Return a leased job with its error and the spans of the attempt. It is due again after a '
    'backoff that doubles from 10 s to 1 h, and dead after its last attempt or without p_retry. '
    'False when the lease has expired.';
