-- Reject a message whose content or other fields exceed settings.message_max_characters.
-- The other fields count as JSON, and so does a content that is a list. For an encrypted user the
-- driver counts characters: here a ciphertext has at most six bytes for each of them, and 16 in
-- fields, whose values are encrypted one by one.
-- Raises  RC003, naming element, size and limit.
create or replace function recall._check_message_sizes(
    p_user_id  uuid,
    p_messages jsonb,
    p_settings recall.settings
)
returns void
language plpgsql
stable
parallel safe
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_most    constant bigint := (p_settings).message_max_characters;
    v_sealed  boolean;
    v_message jsonb;
    v_size    bigint;
begin
    if jsonb_typeof(p_messages) <> 'array' then
        return;
    end if;
    for v_number in 0 .. jsonb_array_length(p_messages) - 1 loop
        v_message := p_messages -> v_number;
        -- The size costs nothing. A byte has at most 34 characters of JSON: in a list, 10^399 takes
        -- 12 bytes and, with its comma, 402 characters.
        continue when pg_column_size(v_message) <= v_most / 34;
        v_sealed := coalesce(v_sealed, recall._is_sealed_user(p_user_id));
        v_size   := length(v_message ->> 'content');
        if v_size > v_most * (case when v_sealed then 6 else 1 end) then
            raise exception using
                errcode = 'RC003',
                message = format('messages[%s].content has %s characters, more than %s', v_number,
                                 v_size, v_most),
                hint    = 'settings.message_max_characters bounds a message. Keep files elsewhere, '
                          'and a reference to them here.';
        end if;
        v_size := length((v_message - 'content')::text);
        if v_size > v_most * (case when v_sealed then 16 else 1 end) then
            raise exception using
                errcode = 'RC003',
                message = format('messages[%s] has %s characters beside its content, more than %s',
                                 v_number, v_size, v_most),
                hint    = 'settings.message_max_characters bounds the other fields of a message, '
                          'too.';
        end if;
    end loop;
end;
$function$;

comment on function recall._check_message_sizes(uuid, jsonb, recall.settings) is
    'Reject a message that is longer than the settings allow (RC003).';
