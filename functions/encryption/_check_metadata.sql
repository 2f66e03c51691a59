-- Reject metadata that is not a JSON object, or has more than a million characters.
-- Ciphertexts of an encrypted user may have 16 times as many, like those of a message's fields
-- (_check_message_sizes): each value is encrypted by itself. The driver counts the plaintext. An
-- import passes no user: rows of an earlier release may be larger.
-- Raises  RC003.
create or replace function recall._check_metadata(
    p_metadata jsonb,
    p_user_id  uuid
)
returns void
language plpgsql
stable
parallel safe
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_size bigint;
begin
    if p_metadata is null or jsonb_typeof(p_metadata) <> 'object' then
        raise exception using
            errcode = 'RC003',
            message = format('metadata is %s, not a JSON object',
                             coalesce(jsonb_typeof(p_metadata), 'null')),
            hint    = 'Pass an object such as ''{}''.';
    end if;
    -- A byte of jsonb has at most 34 characters of JSON (_check_message_sizes). #> '{}' is there to
    -- decompress a value from a table.
    if p_user_id is not null and pg_column_size(p_metadata #> '{}') > 1000000 / 34 then
        v_size := length(p_metadata::text);
        if v_size > 1000000
           and (v_size > 16000000 or not recall._is_sealed_user(p_user_id)) then
            raise exception using
                errcode = 'RC003',
                message = format('metadata has %s characters, more than 1000000', v_size),
                hint    = 'Keep large values elsewhere, and a reference to them here.';
        end if;
    end if;
end;
$function$;

comment on function recall._check_metadata(jsonb, uuid) is
    'Reject metadata that is not a JSON object, or too large (RC003).';
