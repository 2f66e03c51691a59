-- Store a value of a task's working memory; a repeated write renews its lifetime.
-- The table is UNLOGGED: a crash empties it, and a standby lacks it.
-- Locks   the session, shared, unless the transaction is read committed; the user's row of
--         user_locks, shared.
-- Raises  RC001, RC002 closed or expired session, RC003, RC007 on a standby; 40001 when the session
--         was erased since the snapshot.
create or replace function recall.put_working(
    p_user_id     uuid,
    p_session_id  uuid,
    p_task_id     text,
    p_key         text,
    p_value       jsonb,
    p_ttl         interval default null,
    p_token_count integer  default null
)
returns void
language plpgsql
volatile
parallel unsafe
security definer
set search_path to pg_catalog, recall, pg_temp
set plan_cache_mode = force_generic_plan
as $function$
declare
    v_now      timestamptz := clock_timestamp();
    v_session  recall.sessions;
    v_settings recall.settings;
    v_ttl      interval;
begin
    perform recall._check_user(p_user_id);
    perform recall._check_json(p_value, 'p_value');
    perform recall._check_primary();
    perform recall._check_working(p_task_id, p_key, p_value, p_ttl, p_token_count);
    v_session := recall._read_session(p_user_id, p_session_id);
    if v_session.status in ('closed', 'expired') then
        raise exception using
            errcode = 'RC002',
            message = format('session %s is %s', p_session_id, v_session.status),
            hint    = 'recall.resume_session reopens it.';
    end if;
    v_settings := recall._settings(p_user_id);
    v_ttl      := coalesce(p_ttl, v_settings.working_ttl);
    p_task_id  := recall._guard_text(p_task_id, v_settings, 'p_task_id');
    p_key      := recall._guard_text(p_key, v_settings, 'p_key');
    p_value    := recall._guard_secrets(p_value, v_settings, 'p_value');

    -- A row lock of the session would write WAL. So in read committed the INSERT itself checks that
    -- the session exists, after the wait for an erasure. Under other levels the snapshot may be
    -- older than an erasure: only the lock of the session detects that.
    if current_setting('transaction_isolation') in ('repeatable read', 'serializable') then
        perform recall._lock_session_for_share(p_user_id, p_session_id);
    end if;
    perform recall._lock_unlogged_for_share(p_user_id);
    insert into recall.working_memory as w (user_id, session_id, task_id, key, value, token_count,
                                            updated_at, expires_at)
    select p_user_id, p_session_id, p_task_id, p_key, p_value,
           coalesce(p_token_count,
                    recall._estimate_tokens(p_key) + recall._estimate_tokens(p_value::text)),
           v_now, v_now + v_ttl
      from recall.sessions as s
     where s.user_id    = p_user_id
       and s.session_id = p_session_id
    on conflict (user_id, session_id, task_id, key) do update
       set value       = excluded.value,
           token_count = excluded.token_count,
           updated_at  = excluded.updated_at,
           expires_at  = excluded.expires_at;

    if not found then
        perform recall._unknown_session(p_session_id);
    end if;
end;
$function$;

comment on function recall.put_working(uuid, uuid, text, text, jsonb, interval, integer) is
    'Store a value of a task''s working memory. It expires after p_ttl (NULL: '
    'settings.working_ttl); a repeated write renews it.';
