-- Check the user id; every function on user data calls this first.
-- As a second safeguard, an application can limit a transaction to one user:
-- set_config('recall.user_id', …, true). With settings.require_identity it must. The driver of an
-- encrypted user lists the keys it knows in recall.user_key.
-- Raises  RC003 no user given, RC006 not the transaction's user, which is set or required, or not
--         the user's keys.
create or replace function recall._check_user(
    p_user_id uuid
)
returns void
language plpgsql
stable
parallel safe
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_identity text := recall._identity();
    v_key      text := nullif(current_setting('recall.user_key', true), '');
begin
    if p_user_id is null then
        raise exception using
            errcode = 'RC003',
            message = 'p_user_id is null',
            hint    = 'Pass the user''s UUID; recall.user_id(text) derives it from any text.';
    end if;

    if v_identity is null then
        -- Nested, since PL/pgSQL would read the settings for a condition that is false already.
        if (select s.require_identity from recall.settings as s)
           and not recall._serves_all_users() then
            raise exception using
                errcode = 'RC006',
                message = format('this transaction has no user, and the call is for %s', p_user_id),
                hint    = 'The setting require_identity is on. Set the user before: select '
                          'set_config(''recall.user_id'', …, true).';
        end if;
    elsif v_identity <> p_user_id::text then
        raise exception using
            errcode = 'RC006',
            message = format('user %s is not the user of this transaction', p_user_id),
            hint    = 'recall.user_id is set to another user, or is not a UUID in lower case.';
    end if;

    if v_key is not null then
        perform recall._check_user_key(p_user_id, v_key);
    end if;
end;
$function$;

comment on function recall._check_user(uuid) is
    'Reject a missing user (RC003), and any user but the one in recall.user_id, if that is set or '
    'required (RC006).';
