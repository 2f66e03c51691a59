-- recall._json_of_bytes(bytes) -> the JSON in them, NULL when it is none
-- A projection for queries: jsonb knows no NUL, which becomes U+FFFD, and keeps neither the order
-- of keys nor white space. The bytes are what is true. JSON that a client could not read again is
-- kept as bytes only.
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
    v_json jsonb;
begin
    v_text := convert_from(p_bytes, 'UTF8');
    if position('\u0000' in v_text) > 0 then
        v_text := regexp_replace(v_text, '(?<!\\)((?:\\\\)*)\\u0000', '\1\\ufffd', 'g');
    end if;
    v_json := case when pg_input_is_valid(v_text, 'jsonb') then v_text::jsonb end;
    return case when recall._json_problem(v_json, 64) is null then v_json end;
exception when character_not_in_repertoire or statement_too_complex then
    return null;
end;
$function$;

comment on function recall._json_of_bytes(bytea) is
    'The JSON that a body holds, a NUL in it as U+FFFD; NULL when it is no JSON.';
