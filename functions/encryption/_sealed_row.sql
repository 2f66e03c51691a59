-- Return the row id that a ciphertext is bound to.
-- A driver binds a text to its row before the row exists, so the row takes its id from the text. It
-- is the first 16 bytes of the first ciphertext. NULL for other texts and users.
create or replace function recall._sealed_row(
    p_user_id uuid,
    p_text    text
)
returns uuid
language plpgsql
stable
parallel safe
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_place text := substring(
        p_text from 'sealed:v1:[0-9]+:(?:memory|message|parts|arguments|kept):[0-9A-Za-z_-]*:'
                    '([0-9A-Za-z_-]{24})');
begin
    if v_place is null or not recall._is_sealed_user(p_user_id) then
        return null;
    end if;
    return encode(substr(decode(translate(v_place, '-_', '+/'), 'base64'), 1, 16), 'hex')::uuid;
end;
$function$;

comment on function recall._sealed_row(uuid, text) is
    'The row that a ciphertext of an encrypted user is bound to; NULL for other texts and users.';
