-- Return one job of a user with its parameters; no row when it is done or unknown.
-- Raises  RC003.
create or replace function recall.get_job(
    p_user_id uuid,
    p_job_id  uuid
)
returns table (
    job_id       uuid,
    session_id   uuid,
    kind         text,
    state        text,
    payload      jsonb,
    attempts     integer,
    max_attempts integer,
    run_at       timestamptz,
    lease_until  timestamptz,
    worker       text,
    last_error   text,
    created_at   timestamptz
)
language plpgsql
stable
parallel safe
security definer
set search_path to pg_catalog, recall, pg_temp
as $function$
begin
    perform recall._check_user(p_user_id);

    return query
    select j.job_id, j.session_id, j.kind,
           case when j.state <> 'ready' then j.state::text
                when j.run_at > clock_timestamp() then 'deferred' else 'due' end,
           j.payload, j.attempts, j.max_attempts, j.run_at, j.lease_until, j.worker, j.last_error,
           j.created_at
      from recall.jobs as j
     where j.user_id = p_user_id
       and j.job_id  = p_job_id;
end;
$function$;

comment on function recall.get_job(uuid, uuid) is
    'A job of the user with its parameters: due, deferred, running or dead. No row when it is done '
    'or unknown.';
