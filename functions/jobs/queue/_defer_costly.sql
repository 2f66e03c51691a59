-- Defer a job that needs a language model when a daily cost limit is reached; return whose limit.
-- The result is everybody, user, or NULL. The deferral does not count as an attempt.
create or replace function recall._defer_costly(
    p_job recall.jobs,
    p_now timestamptz
)
returns text
language plpgsql
volatile
parallel unsafe
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_whose  text;
    v_error  text;
    v_due_at timestamptz;
begin
    if not recall._needs_model(p_job.kind, p_job.payload) then
        return null;
    end if;
    select l.o_whose, l.o_error, l.o_due_at
      into v_whose, v_error, v_due_at
      from recall._blocking_limit(p_job.user_id, p_now) as l;
    if v_whose is null then
        return null;
    end if;

    update recall.jobs as j
       set run_at     = v_due_at,
           last_error = v_error
     where j.user_id = p_job.user_id
       and j.job_id  = p_job.job_id;
    return v_whose;
end;
$function$;

comment on function recall._defer_costly(recall.jobs, timestamptz) is
    'Defer a job that needs a language model when a daily limit is reached; returns everybody, '
    'user or NULL (no limit is reached).';
