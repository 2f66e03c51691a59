-- Return an error as jobs store it: truncated, masked, without plaintext of an encrypted user.
create or replace function recall._error_text(
    p_user_id uuid,
    p_error   text
)
returns text
language plpgsql
stable
parallel safe
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_error constant text := recall._masked(left(coalesce(p_error, 'no reason given'), 10000),
                                            recall._settings(p_user_id));
begin
    if recall._is_sealed_user(p_user_id) and not recall._is_sealed(v_error) then
        return 'the text of this error is not kept: the user is encrypted';
    end if;
    return v_error;
end;
$function$;

comment on function recall._error_text(uuid, text) is
    'An error as last_error stores it: truncated and with secrets masked; a fixed text for an '
    'encrypted user, unless the error is a ciphertext.';
