-- Parse bytes as JSON; NULL when they are not JSON.
-- The result is for queries; the bytes are authoritative. jsonb cannot store NUL, which becomes
-- U+FFFD, and keeps neither key order nor white space. JSON that a client could not read again is
-- stored as bytes only.
create or replace function recall._json_of_bytes(
    p_bytes bytea
)
returns jsonb
language plpgsql
immutable
parallel safe
set search_path to pg_catalog, recall, pg_temp
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
    'The JSON in a body, with NUL replaced by U+FFFD; NULL when it is not JSON.';
