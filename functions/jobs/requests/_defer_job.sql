-- Give a leased job back because nothing can be done now; keep what its steps have made.
-- With p_run_at the attempt is not counted. Without it the session has moved on and the job is due
-- at once. That attempt counts, so that the job cannot repeat for ever.
create or replace function recall._defer_job(
    p_job    recall.jobs,
    p_work   jsonb,
    p_reason text,
    p_run_at timestamptz default null
)
returns jsonb
language plpgsql
volatile
parallel unsafe
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_run_at constant timestamptz := coalesce(p_run_at, clock_timestamp());
    v_work   constant jsonb := recall._kept_work(p_work);
    v_job    recall.jobs := p_job;
begin
    if p_run_at is not null then
        v_job.attempts := greatest(0, p_job.attempts - 1);
    end if;
    update recall.jobs as j
       set attempts = v_job.attempts,
           work     = v_work,
           vectors  = case when v_work ? 'embedder' then p_job.vectors end
     where j.user_id = p_job.user_id
       and j.job_id  = p_job.job_id;
    perform recall._return_job(v_job, v_run_at, p_reason);
    if v_job.attempts >= v_job.max_attempts then
        return jsonb_build_object('type', 'failed', 'error', p_reason, 'dead', true);
    end if;
    return jsonb_build_object('type', 'deferred', 'reason', p_reason, 'run_at', v_run_at);
end;
$function$;

comment on function recall._defer_job(recall.jobs, jsonb, text, timestamptz) is
    'Give a leased job back for later and keep its state; returns what next_request returns.';
