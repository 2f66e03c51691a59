-- Defer a job that needs a language model when a daily cost limit is reached; return whose limit.
-- The result is everybody, user, or NULL. The deferral does not count as an attempt.
create or replace function recall._put_off_costly(
    p_job recall.jobs,
    p_now timestamptz
)
returns text
language plpgsql
volatile
parallel unsafe
set search_path from current
as $function$
declare
    v_reached record;
begin
    if not recall._needs_model(p_job.kind, p_job.payload) then
        return null;
    end if;
    v_reached := recall._reached_limit(p_job.user_id, p_now);
    if v_reached.o_whose is null then
        return null;
    end if;

    update recall.jobs as j
       set run_at     = recall._after_limit(p_now),
           last_error = recall._limit_text(v_reached.o_whose, v_reached.o_spent,
                                           v_reached.o_limit, p_now)
     where j.user_id = p_job.user_id
       and j.job_id  = p_job.job_id;
    return v_reached.o_whose;
end;
$function$;

comment on function recall._put_off_costly(recall.jobs, timestamptz) is
    'Defer a job that needs a language model when a daily limit is reached; returns everybody, '
    'user or NULL (no limit is reached).';
