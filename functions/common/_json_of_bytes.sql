-- recall._json_of_bytes(bytes) -> the JSON in them, NULL when it is none
-- A projection for queries: jsonb knows no NUL, which becomes U+FFFD, and keeps neither the order
-- of keys nor white space. The bytes are what is true.
create or replace function recall._json_of_bytes(
    p_bytes bytea
)
returns jsonb
language plpgsql
immutable
parallel safe
set search_path from current
as $function$
declare
    v_text text;
begin
    v_text := convert_from(p_bytes, 'UTF8');
    if position('\u0000' in v_text) > 0 then
        v_text := regexp_replace(v_text, '(?<!\\)((?:\\\\)*)\\u0000', '\1\\ufffd', 'g');
    end if;
    return case when pg_input_is_valid(v_text, 'jsonb') then v_text::jsonb end;
exception when character_not_in_repertoire then
    return null;
end;
$function$;

comment on function recall._json_of_bytes(bytea) is
    'The JSON that a body holds, a NUL in it as U+FFFD; NULL when it is no JSON.';
