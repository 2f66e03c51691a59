-- recall.seal_user(user, wrapped_key, wrapping_key, with_vectors) -> was it done now?
-- From now on the user's texts come as ciphertext, made by a driver: its data key stands here,
-- wrapped by a key that never comes here. What is there already would stay readable (in backups,
-- too), so only a user without any is sealed. Texts that are not read are not indexed either: no
-- words, and vectors only when they are wished, since they tell what a text is about. Secrets are
-- looked for by the driver.
-- Locks   the user.
-- Raises  RC003, RC006 the user has data already.
create or replace function recall.seal_user(
    p_user_id      uuid,
    p_wrapped_key  bytea,
    p_wrapping_key text,
    p_with_vectors boolean default false
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
    perform recall._lock_user_and_bump_revision(p_user_id);
    if recall._is_sealed_user(p_user_id) then
        return false;
    end if;
    if recall._has_data(p_user_id) then
        raise exception using
            errcode = 'RC006',
            message = format('user %s has data already, which would stay readable', p_user_id),
            hint    = 'Seal a user before the first session. Of another, keep the messages and '
                      'facts; forget the user, seal, and let a driver write them again.';
    end if;

    update recall.users as u
       set is_sealed   = true,
           has_vectors = coalesce(p_with_vectors, false),
           external_id = null,
           metadata    = '{}',
           overrides   = u.overrides
                         || case when p_with_vectors then '{}'
                                 else '{"embed_messages": false}' end::jsonb
     where u.user_id = p_user_id;
    insert into recall.user_keys (user_id, key_no, wrapped_key, wrapping_key, created_at)
    values (p_user_id, 1, p_wrapped_key, p_wrapping_key, v_now);
    return true;
end;
$function$;

comment on function recall.seal_user(uuid, bytea, text, boolean) is
    'Seal a user without data: texts come encrypted from now on. False: the user was sealed.';
