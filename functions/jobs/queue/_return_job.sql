-- Return a running job to the queue: ready at p_run_at, or dead.
-- It is dead after its last attempt, or when p_retry is false.
create or replace function recall._return_job(
    p_job    recall.jobs,
    p_run_at timestamptz,
    p_error  text,
    p_retry  boolean default true
)
returns void
language plpgsql
volatile
parallel unsafe
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_dead boolean := not p_retry or p_job.attempts >= p_job.max_attempts;
begin
    -- An equal job that became ready meanwhile takes over the attempts: otherwise a job that always
    -- fails would never die. A job of the same mode takes over the models' output, too. In another
    -- mode the vectors would belong to other texts.
    if not v_dead then
        update recall.jobs as t
           set attempts   = greatest(t.attempts, p_job.attempts),
               run_at     = greatest(t.run_at, p_run_at),
               last_error = p_error,
               (work, vectors) = (
                   select coalesce(k.work, t.work),
                          case when k.work is null then t.vectors else j.vectors end
                     from (
                            select case when coalesce(t.payload ->> 'mode', 'llm')
                                             = coalesce(j.payload ->> 'mode', 'llm')
                                        then recall._kept_work(j.work) end
                          ) as k (work)
               )
          from recall.jobs as j
         where j.user_id    = p_job.user_id
           and j.job_id     = p_job.job_id
           and t.user_id    = p_job.user_id
           and t.kind       = p_job.kind
           and t.dedupe_key = p_job.dedupe_key
           and t.state      = 'ready';
        if found then
            delete from recall.jobs as j
             where j.user_id = p_job.user_id
               and j.job_id  = p_job.job_id;
            return;
        end if;
    end if;

    update recall.jobs as j
       set state       = case when v_dead then 'dead' else 'ready' end::recall.job_state,
           run_at      = p_run_at,
           lease_until = null,
           lease_token = null,
           worker      = null,
           last_error  = p_error
     where j.user_id = p_job.user_id
       and j.job_id  = p_job.job_id;
-- A concurrent transaction made an equal job ready: that one replaces this job.
exception when unique_violation then
    delete from recall.jobs as j
     where j.user_id = p_job.user_id
       and j.job_id  = p_job.job_id;
end;
$function$;

comment on function recall._return_job(recall.jobs, timestamptz, text, boolean) is
    'Return a running job to the queue: ready at a time, dead after its last attempt, or merged '
    'into an equal ready job.';
