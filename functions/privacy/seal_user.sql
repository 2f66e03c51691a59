-- recall.seal_user(user, wrapped_key, wrapping_key) -> was it done now?
-- From now on the user's texts come as ciphertext, made by a driver: its data key stands here,
-- wrapped by a key that never comes here. What is there already would stay readable (in backups,
-- too), so only a user without any is sealed. Texts that are not read are not indexed either: no
-- message is embedded, memories are drawn by a model or not at all, and no ciphertext is searched
-- for secrets, which would break it.
-- Locks   the user.
-- Raises  RC003, RC006 the user has data already.
create or replace function recall.seal_user(
    p_user_id      uuid,
    p_wrapped_key  bytea,
    p_wrapping_key text
)
returns boolean
language plpgsql
volatile
parallel unsafe
security definer
set search_path from current
set plan_cache_mode = force_custom_plan
as $function$
declare
    v_now timestamptz := clock_timestamp();
begin
    perform recall._check_user(p_user_id);
    perform recall._check_wrapped_key(p_wrapped_key, p_wrapping_key);
    perform recall._lock_user(p_user_id);
    if recall._is_sealed_user(p_user_id) then
        return false;
    end if;
    if exists (select from recall.sessions as s where s.user_id = p_user_id)
       or exists (select from recall.memory_store as m where m.user_id = p_user_id)
       or exists (select from recall.jobs as j where j.user_id = p_user_id) then
        raise exception using
            errcode = 'RC006',
            message = format('user %s has data already, which would stay readable', p_user_id),
            hint    = 'Seal a user before the first session. For another: export, forget, seal, '
                      'import.';
    end if;

    update recall.users as u
       set is_sealed   = true,
           external_id = null,
           metadata    = '{}',
           overrides   = u.overrides || '{"embed_messages": false, "secrets": "keep"}'
                         || case when (recall._settings(p_user_id)).extraction = 'verbatim'
                                 then '{"extraction": "none"}' else '{}' end::jsonb
     where u.user_id = p_user_id;
    insert into recall.user_keys (user_id, key_no, wrapped_key, wrapping_key, created_at)
    values (p_user_id, 1, p_wrapped_key, p_wrapping_key, v_now);
    return true;
end;
$function$;

comment on function recall.seal_user(uuid, bytea, text) is
    'Seal a user without data: texts come encrypted from now on. False: the user was sealed.';
