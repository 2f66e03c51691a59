-- Add a data encryption key, which begins a rotation; return false during another rotation.
-- From now on new texts use this key. Values that are compared keep the previous key until
-- `reseal_rows` has exchanged all of them.
-- Locks   the user.
-- Raises  RC003
create or replace function recall.add_user_key(
    p_user_id      uuid,
    p_key_no       integer,
    p_wrapped_key  bytea,
    p_wrapping_key text
)
returns boolean
language plpgsql
volatile
parallel unsafe
security definer
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_now  timestamptz := clock_timestamp();
    v_last integer;
    v_used bigint;
begin
    perform recall._check_user(p_user_id);
    perform recall._check_wrapped_key(p_wrapped_key, p_wrapping_key);
    perform recall._lock_user_and_bump_revision(p_user_id);
    select max(k.key_no), count(*) filter (where k.retired_at is null)
      into v_last, v_used
      from recall.user_keys as k
     where k.user_id = p_user_id;
    if v_last is null or p_key_no is null or p_key_no not between 1 and 65535 then
        raise exception using
            errcode = 'RC003',
            message = format('user %s is not encrypted, or p_key_no is %s', p_user_id,
                             coalesce(p_key_no::text, 'null')),
            hint    = 'recall.seal_user creates the first key. A further key has the next number.';
    end if;
    if v_used > 1 or p_key_no <> v_last + 1 then
        return false;
    end if;
    insert into recall.user_keys (user_id, key_no, wrapped_key, wrapping_key, created_at)
    values (p_user_id, p_key_no, p_wrapped_key, p_wrapping_key, v_now);
    return true;
end;
$function$;

comment on function recall.add_user_key(uuid, integer, bytea, text) is
    'Begin the rotation of an encrypted user''s data encryption key. Returns false while another '
    'rotation is unfinished. RC003: the user is not encrypted, or the key number or the wrapped '
    'key is malformed.';
