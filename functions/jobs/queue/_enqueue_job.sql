-- Enqueue a job; return its id, or NULL when an equal job is ready already.
-- At most one job of a user, kind and dedupe key is ready; another call only makes its run_at
-- earlier, unless the job waits for a retry or a cost limit (last_error). The caller has locked the
-- user or one of their sessions, so that an erased user gets no jobs. Passing the user's
-- job_max_attempts spares a read of the user, which locks all partitions of users.
create or replace function recall._enqueue_job(
    p_user_id      uuid,
    p_kind         text,
    p_session_id   uuid        default null,
    p_dedupe_key   text        default null,
    p_payload      jsonb       default '{}',
    p_run_at       timestamptz default null,
    p_max_attempts integer     default null
)
returns uuid
language plpgsql
volatile
parallel unsafe
set search_path to pg_catalog, recall, pg_temp
set plan_cache_mode = force_generic_plan
as $function$
declare
    v_job_id uuid        := recall.uuidv7();
    v_now    timestamptz := clock_timestamp();
    v_run_at timestamptz := coalesce(p_run_at, v_now);
begin
    insert into recall.jobs (user_id, job_id, kind, session_id, dedupe_key, payload, run_at,
                             max_attempts, created_at)
    values (p_user_id, v_job_id, p_kind, p_session_id, p_dedupe_key, p_payload, v_run_at,
            coalesce(p_max_attempts, (recall._settings(p_user_id)).job_max_attempts), v_now)
    on conflict (user_id, kind, dedupe_key) where state = 'ready' do nothing;

    if found then
        return v_job_id;
    end if;

    update recall.jobs as j
       set run_at = v_run_at
     where j.user_id    = p_user_id
       and j.kind       = p_kind
       and j.dedupe_key = p_dedupe_key
       and j.state      = 'ready'
       and j.run_at     > v_run_at
       and j.last_error is null;
    return null;
end;
$function$;

comment on function recall._enqueue_job(uuid, text, uuid, text, jsonb, timestamptz, integer) is
    'Enqueue a job; NULL when an equal job is ready already.';
