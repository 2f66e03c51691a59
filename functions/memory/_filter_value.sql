-- Read one key of a filter as text that is a valid input of its type; NULL when the key is missing.
-- Raises  RC003.
create or replace function recall._filter_value(
    p_filter jsonb,
    p_key    text,
    p_type   text
)
returns text
language plpgsql
stable
parallel safe
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_json  constant text := case p_type
                                 when 'boolean' then 'boolean'
                                 when 'real' then 'number'
                                 when 'jsonb' then 'object'
                                 else 'string'
                             end;
    v_value jsonb         := p_filter -> p_key;
begin
    if v_value is null or v_value = 'null' then
        return null;
    end if;
    -- pg_input_is_valid caches the type of its first call, so each type is a constant here.
    if jsonb_typeof(v_value) <> v_json
       or not (case p_type
                   when 'uuid' then pg_input_is_valid(v_value #>> '{}', 'uuid')
                   when 'timestamptz' then pg_input_is_valid(v_value #>> '{}', 'timestamptz')
                   when 'real' then pg_input_is_valid(v_value #>> '{}', 'real')
                   else true
               end) then
        raise exception using
            errcode = 'RC003',
            message = format('filter.%s is %s', p_key, left(v_value::text, 80)),
            hint    = format('Pass %s (%s).', v_json, p_type);
    end if;
    return v_value #>> '{}';
end;
$function$;

comment on function recall._filter_value(jsonb, text, text) is
    'One key of a filter as text, checked for its type (RC003).';
