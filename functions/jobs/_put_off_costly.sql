-- recall._put_off_costly(job, now) -> whose daily limit is reached: everybody, user, or NULL
-- A job that needs a language model waits, without an attempt being counted.
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
    'Put a job that needs a model off when a daily limit is reached; says whose, or NULL.';
