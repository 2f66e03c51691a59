-- Enqueue a job and return its id; NULL when an equal job is ready.
-- At most one job of a user, kind and dedupe key is ready: an equal one only moves its run_at to
-- an earlier time, and not while it waits for a retry or a cost limit. The session need not exist
-- yet; one erased while this call waits gets no job.
-- Locks   the user and the session, shared.
-- Raises  RC001 a session that is being erased, RC003 unknown kind, a payload that is no object, a
--         bad time or key.
create or replace function recall.enqueue_job(
    p_user_id    uuid,
    p_kind       text,
    p_session_id uuid        default null,
    p_dedupe_key text        default null,
    p_payload    jsonb       default '{}',
    p_run_at     timestamptz default null
)
returns uuid
language plpgsql
volatile
parallel unsafe
security definer
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_settings    recall.settings;
    v_has_session boolean;
begin
    perform recall._check_user(p_user_id);
    perform recall._check_json(p_payload, 'p_payload');
    perform recall._check_job_kind(p_kind);
    if p_payload is null or jsonb_typeof(p_payload) <> 'object' then
        raise exception using
            errcode = 'RC003',
            message = 'p_payload is not a JSON object',
            hint    = 'Pass an object such as ''{}''.';
    end if;
    if p_run_at is not null and not recall._is_calendar_time(to_jsonb(p_run_at)) then
        raise exception using
            errcode = 'RC003',
            message = format('p_run_at is %s', p_run_at),
            hint    = 'Pass a time of the years 1 to 9999, or leave it out for now.';
    end if;

    v_settings    := recall._settings(p_user_id);
    p_payload     := recall._guard_secrets(p_payload, v_settings, 'p_payload');
    p_dedupe_key  := recall._guard_text(p_dedupe_key, v_settings, 'p_dedupe_key');
    -- The key must fit into an index row.
    if octet_length(p_dedupe_key) > 2000 then
        raise exception using
            errcode = 'RC003',
            message = format('p_dedupe_key has %s bytes', octet_length(p_dedupe_key)),
            hint    = 'At most 2000 bytes. Pass a hash of a longer key.';
    end if;
    v_has_session := p_session_id is not null and recall._has_session(p_user_id, p_session_id);
    perform recall._lock_user_for_share(p_user_id);
    if v_has_session then
        perform recall._lock_session_for_share(p_user_id, p_session_id);
    end if;
    -- UUIDs, such as our own keys, reveal nothing; another key of a caller may be plaintext.
    if v_settings.has_sealed_users
       and not (recall._is_sealed(p_dedupe_key) or pg_input_is_valid(p_dedupe_key, 'uuid'))
       and recall._is_sealed_user(p_user_id) then
        perform recall._raise_plain_text(p_user_id, 'jobs', '$.dedupe_key');
    end if;
    return recall._enqueue_job(p_user_id, p_kind, p_session_id, p_dedupe_key, p_payload, p_run_at,
                               v_settings.job_max_attempts);
end;
$function$;

comment on function recall.enqueue_job(uuid, text, uuid, text, jsonb, timestamptz) is
    'Enqueue a job for a worker and return its id. NULL when an equal job is ready: its run_at '
    'then only moves to an earlier time, and stays while the job waits for a retry or a cost '
    'limit.';
