-- Lease due jobs to a worker.
-- A kind may be narrowed to a mode ('extract:verbatim'), for workers without a model. An extraction
-- without a mode counts as llm. Embed jobs of another model than the current one must be named
-- ('embed:MODEL'). In a transaction of one user (recall.user_id) the function leases that user's
-- jobs only.
-- Locks   each job it looks at; it skips jobs that another claim has locked.
-- Raises  RC003.
create or replace function recall.claim_jobs(
    p_worker text,
    p_kinds  text[]   default null,
    p_limit  integer  default 1,
    p_lease  interval default '5 minutes',
    p_flush  boolean  default false
)
returns table (
    job_id      uuid,
    lease_token uuid,
    kind        text,
    user_id     uuid,
    session_id  uuid,
    payload     jsonb,
    attempts    integer,
    lease_until timestamptz
)
language plpgsql
volatile
parallel unsafe
security definer
set search_path to pg_catalog, recall, pg_temp
set plan_cache_mode = force_generic_plan
as $function$
declare
    v_batch   constant integer := 200;
    v_most    constant integer := 400;
    v_now     timestamptz := clock_timestamp();
    v_until   timestamptz := case when p_flush then timestamptz 'infinity' else v_now end;
    v_claimed integer     := 0;
    v_deferred integer     := 0;
    v_models  boolean     := true;
    v_user    text        := recall._identity();
    v_current text        := (select s.embedding_model from recall.settings as s);
    v_waiting uuid[]      := '{}'::uuid[];
    v_whose   text;
    v_job     recall.jobs;
    -- Fetch one row at a time: a FOR loop over the query would prefetch, and lock, ten.
    v_due     cursor for
        select j.*
          from recall.jobs as j
         where j.state = 'ready'
           and j.run_at <= v_until
           -- p_flush takes jobs that wait for their idle time, not for a retry or a cost limit.
           and (j.run_at <= v_now or j.kind = 'extract' and j.last_error is null)
           and (v_user is null or j.user_id::text = v_user)
           and ((p_kinds is null or j.kind = any (p_kinds))
                and (j.kind <> 'embed' or j.payload ->> 'mode' is null
                     or j.payload ->> 'mode' = v_current)
                or j.kind || ':' || coalesce(j.payload ->> 'mode',
                                              case j.kind when 'extract' then 'llm' end)
                   = any (p_kinds))
           and (v_deferred = 0 or not recall._needs_model(j.kind, j.payload)
                or v_models and j.user_id <> all (v_waiting)
                   and (v_deferred < v_most
                        or (recall._blocking_limit(j.user_id, v_now)).o_whose is null))
         order by j.priority, j.run_at
           for update skip locked;
    -- Citus locks rows of one user only: each job is locked below.
    v_far     cursor for
        select r.*
          from recall._ready_jobs(p_kinds, v_user, v_current, v_now, v_until,
                                  p_limit::bigint + v_batch) as r;
    v_open    refcursor;
begin
    perform recall._check_claim(p_worker, p_kinds, p_limit, p_lease);
    if p_limit = 0 then
        return;
    end if;

    if recall._is_distributed() then
        open v_far;
        v_open := v_far;
    else
        open v_due;
        v_open := v_due;
    end if;
    loop
        fetch v_open into v_job;
        exit when not found;
        if recall._is_distributed() then
            select j.*
              into v_job
              from recall.jobs as j
             where j.user_id = v_job.user_id
               and j.job_id  = v_job.job_id
               and j.state   = 'ready'
               and j.run_at <= v_until
               for update skip locked;
            continue when not found;
        end if;
        -- An extraction is deferred here while its conversation goes on: no append updates the job.
        continue when p_flush is not true and recall._defer_extraction(v_job, v_now);

        -- Past a cost limit a call defers at most v_most jobs and skips the others.
        v_whose := recall._defer_costly(v_job, v_now);
        if v_whose is not null then
            v_deferred := v_deferred + 1;
            if v_job.user_id <> all (v_waiting) then
                v_waiting := v_waiting || v_job.user_id;
            end if;
            if v_deferred % v_batch = 0 and not recall._is_distributed() then
                v_models := v_whose = 'user';
                close v_due;
                open v_due;
                v_open := v_due;
            end if;
            continue;
        end if;

        lease_token := recall._lease_job(v_job, p_worker, v_now, p_lease);
        continue when lease_token is null;

        job_id      := v_job.job_id;
        kind        := v_job.kind;
        user_id     := v_job.user_id;
        session_id  := v_job.session_id;
        payload     := v_job.payload;
        attempts    := v_job.attempts + 1;
        lease_until := v_now + p_lease;
        return next;

        v_claimed := v_claimed + 1;
        exit when v_claimed >= p_limit;
    end loop;
    close v_open;
end;
$function$;

comment on function recall.claim_jobs(text, text[], integer, interval, boolean) is
    'Lease due jobs to a worker: at most p_limit, and never two running jobs of one session and '
    'kind. p_flush also leases extractions that wait for their idle time. Past a daily cost '
    'limit, jobs that need a language model are deferred (RC005 in last_error). Where '
    'recall.user_id is set, the function leases that user''s jobs only.';
