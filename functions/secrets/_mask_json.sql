-- Mask secrets in a JSON value; quick for a large value without any.
-- It returns what recall._redact_json returns, but first checks all text of the value at once, and
-- the values under names of secrets. 200 vectors of 384 numbers take 0.9 seconds instead of 99.
create or replace function recall._mask_json(
    p_value   jsonb,
    p_classes text[]
)
returns jsonb
language plpgsql
immutable
parallel safe
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_names constant text :=
        '(?i)"(?:[\w.-]*' || recall._secret_names()
        || '|secret|authorization|(?:set-)?cookie)"\s*(?:,|:\s*(?:\[?"(?!\[secret: |")|-?\d))';
    v_pair  constant text := chr(57344);  -- stands for an escaped backslash meanwhile
    v_text  text collate pg_c_utf8 := p_value::text;
begin
    -- An escape such as \n ends in a letter, which would hide that a word begins after it.
    if strpos(v_text, '\') > 0 then
        v_text := replace(v_text, '\\', v_pair);
        v_text := replace(replace(replace(v_text, '\n', e'\n'), '\r', e'\r'), '\t', e'\t');
        v_text := regexp_replace(v_text, '\\(?:u00[01][0-9a-f]|[bf])', ' ', 'g');
        v_text := replace(v_text, v_pair, '\\');
    end if;
    if p_value is null
       or v_text !~ v_names and recall._redact(v_text, p_classes) = v_text then
        return p_value;
    elsif jsonb_typeof(p_value) = 'array' then
        return (
            select coalesce(jsonb_agg(recall._mask_json(e.item, p_classes) order by e.place), '[]')
              from jsonb_array_elements(p_value) with ordinality as e (item, place));
    end if;
    return recall._redact_json(p_value, p_classes);
end;
$function$;

comment on function recall._mask_json(jsonb, text[]) is
    'A JSON value with masked secrets; quick for a large value without any.';
