-- Raise the error for plaintext of an encrypted user.
-- Raises  RC006, always.
create or replace function recall._raise_plain_text(
    p_user_id uuid,
    p_table   text,
    p_path    text
)
returns void
language plpgsql
stable
parallel safe
set search_path to pg_catalog, recall, pg_temp
as $function$
begin
    raise exception using
        errcode = 'RC006',
        message = format('user %s is encrypted: %s accepts no plaintext', p_user_id, p_table),
        detail  = 'The plaintext is at ' || p_path || '.',
        hint    = 'Connect by a driver that holds the wrapping key: AgentMemory.connect(…, '
                  'wrapping_keys=…).';
end;
$function$;

comment on function recall._raise_plain_text(uuid, text, text) is
    'Raise RC006 for plaintext of an encrypted user.';
