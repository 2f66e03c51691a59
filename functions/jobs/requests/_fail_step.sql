-- Give a leased job back with the failure recorded in its state.
-- The job keeps what its steps made, except after a malformed answer or a final failure. For an
-- encrypted user, errors with our own words and numbers are stored; others only as ciphertext
-- (_error_text).
create or replace function recall._fail_step(
    p_job  recall.jobs,
    p_work jsonb
)
returns jsonb
language plpgsql
volatile
parallel unsafe
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_is_final constant boolean := coalesce(p_work #> '{failure,is_final}' = 'true', false);
    v_error    constant text    := case
        when p_work #> '{failure,is_ours}' = 'true' and p_work -> 'is_sealed' = 'true'
            then left(p_work #>> '{failure,error}', 2000)
        else recall._error_text(p_job.user_id, p_work #>> '{failure,error}') end;
    v_work     constant jsonb   := case
        when not v_is_final and p_work #> '{failure,is_malformed}' is distinct from 'true'
        then recall._kept_work(p_work) end;
begin
    update recall.jobs as j
       set work    = v_work,
           vectors = case when v_work ? 'embedder' then p_job.vectors end
     where j.user_id = p_job.user_id
       and j.job_id  = p_job.job_id;
    perform recall._return_job(p_job, clock_timestamp() + recall._backoff(p_job.attempts), v_error,
                               not v_is_final);
    return jsonb_build_object('type', 'failed', 'error', v_error,
                              'dead', v_is_final or p_job.attempts >= p_job.max_attempts);
end;
$function$;

comment on function recall._fail_step(recall.jobs, jsonb) is
    'Give a leased job back with its failure; returns what next_request returns.';
