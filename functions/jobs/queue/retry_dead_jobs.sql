-- Make dead jobs due again with all their attempts; return how many.
-- A dead job is deleted when an equal job is ready, and stays dead while it is locked.
-- Locks   users, sessions and jobs as far as they are free. See docs/architecture.md.
-- Raises  RC003.
create or replace function recall.retry_dead_jobs(
    p_kind  text    default null,
    p_limit integer default 100
)
returns integer
language plpgsql
volatile
parallel unsafe
security definer
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_now        timestamptz := clock_timestamp();
    v_count      integer := 0;
    v_user_id    uuid;
    v_job_id     uuid;
    v_session_id uuid;
    v_job        recall.jobs;
begin
    perform recall._check_limit(p_limit);
    if p_kind is not null then
        perform recall._check_job_kind(p_kind);
    end if;

    for v_user_id, v_job_id, v_session_id in
        select j.user_id, j.job_id, j.session_id
          from recall.jobs as j
         where j.state = 'dead'
           and (p_kind is null or j.kind = p_kind)
         order by j.created_at
         limit p_limit
    loop
        v_job := recall._try_lock_job(v_user_id, v_job_id, v_session_id, 'dead');
        continue when v_job.job_id is null;
        v_job.attempts := 0;
        perform recall._return_job(v_job, v_now, v_job.last_error);
        update recall.jobs as j
           set attempts = 0
         where j.user_id = v_job.user_id
           and j.job_id  = v_job.job_id;
        v_count := v_count + 1;
    end loop;
    return v_count;
end;
$function$;

comment on function recall.retry_dead_jobs(text, integer) is
    'Make dead jobs due again, the oldest first. Returns how many.';
