-- Make a user encrypted: from now on drivers send all texts as ciphertext.
-- The data encryption key is stored wrapped; the key encryption key never reaches the database.
-- Only users without data qualify, because existing plaintext would survive in backups. Ciphertext
-- has no word index, and vectors are optional, since they reveal the topic of a text. The driver
-- checks for secrets.
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
set search_path to pg_catalog, recall, pg_temp
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
            message = format('user %s already has data, which would stay plaintext', p_user_id),
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
    'Make a user without data encrypted: from now on drivers send all texts as ciphertext. '
    'Returns false if the user was encrypted already. RC003: a malformed wrapped key. RC006: the '
    'user has data.';
