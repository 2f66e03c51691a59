-- Read one key of a filter as a list of texts; NULL when the key is missing.
-- A single text counts as a list. p_known lists the allowed values, so that a misspelled tier fails
-- instead of matching nothing.
-- Raises  RC003.
create or replace function recall._filter_texts(
    p_filter jsonb,
    p_key    text,
    p_known  text[] default null
)
returns text[]
language plpgsql
immutable
parallel safe
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_value jsonb := p_filter -> p_key;
    v_texts text[];
begin
    if v_value is null or v_value = 'null' then
        return null;
    end if;
    if jsonb_typeof(v_value) = 'string' then
        v_value := jsonb_build_array(v_value);
    end if;
    if jsonb_typeof(v_value) <> 'array'
       or jsonb_path_exists(v_value, '$[*] ? (@.type() <> "string")') then
        raise exception using
            errcode = 'RC003',
            message = format('filter.%s is %s, not a text or a list of texts', p_key,
                             left(v_value::text, 80)),
            hint    = format('Pass {"%s": ["…"]}.', p_key);
    end if;

    v_texts := array(select jsonb_array_elements_text(v_value));
    if not v_texts <@ p_known then
        raise exception using
            errcode = 'RC003',
            message = format('filter.%s is %s', p_key, left(v_value::text, 80)),
            hint    = 'Known values: ' || array_to_string(p_known, ', ');
    end if;
    return v_texts;
end;
$function$;

comment on function recall._filter_texts(jsonb, text, text[]) is
    'One key of a filter as a list of texts (RC003 when it is something else).';
