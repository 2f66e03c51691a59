-- Return the UUID of a user from any text.
-- A UUID names itself. Any other text becomes a UUIDv8 from SHA-256 over the namespace
-- 5ba7c0de-7e11-4d2a-9c3b-70677265636c and the text. A UUIDv8 is no name: it would name the user
-- of another text.
-- Raises  RC003 empty text, more than 1000 characters, or a UUIDv8.
create or replace function recall.user_id(
    p_external_id text
)
returns uuid
language plpgsql
immutable
parallel safe
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_namespace constant bytea := uuid_send('5ba7c0de-7e11-4d2a-9c3b-70677265636c');
    v_digest    bytea;
    v_user_id   uuid;
begin
    if p_external_id is null or p_external_id = '' then
        raise exception using
            errcode = 'RC003',
            message = 'external id is empty',
            hint    = 'Pass a text that names the user, such as auth0|42.';
    end if;
    -- ensure_user stores no longer name. Without this limit, only calls that store it would fail.
    if length(p_external_id) > 1000 then
        raise exception using
            errcode = 'RC003',
            message = format('external id has %s characters, more than 1000',
                             length(p_external_id)),
            hint    = 'Pass a shorter text that names the user, such as auth0|42.';
    end if;

    if p_external_id collate "C"
       ~* '^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$' then
        v_user_id := p_external_id::uuid;
        if v_user_id::text ~ '^.{14}8.{4}[89ab]' then
            raise exception using
                errcode = 'RC003',
                message = format('%s is a UUID of version 8, which is no name', p_external_id),
                hint    = 'It may be the id of a user with a name: pass that name. Where it is an '
                          'id, pass it as a uuid. Put a prefix before names that people choose.';
        end if;
        return v_user_id;
    end if;

    v_digest := substring(sha256(v_namespace || convert_to(p_external_id, 'UTF8')) from 1 for 16);
    v_digest := set_byte(v_digest, 6, (get_byte(v_digest, 6) & 15) | 128);
    v_digest := set_byte(v_digest, 8, (get_byte(v_digest, 8) & 63) | 128);
    return encode(v_digest, 'hex')::uuid;
end;
$function$;

comment on function recall.user_id(text) is
    'UUID of a user from any text: itself when it is a UUID, else UUIDv8 from SHA-256 of the '
    'namespace 5ba7c0de-7e11-4d2a-9c3b-70677265636c and the text. RC003: an empty text, more than '
    '1000 characters, or a UUIDv8.';
