-- Fit a value to a JSON schema: fill in missing parts and trim strings; or say what does not fit.
-- The schema's "default" replaces parts that models leave out, and words outside an "enum". Lengths
-- and sizes are not checked: longer values are cut where they are stored.
create or replace function recall._fitted(
    p_value  jsonb,
    p_schema jsonb,
    p_path   text,
    out o_value   jsonb,
    out o_problem text
)
language plpgsql
immutable
parallel safe
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_types constant jsonb := p_schema -> 'type';  -- a string, or an array of strings
    v_text  text;
    v_key   text;
    v_place bigint;
    v_part  jsonb;
    v_found record;  -- an assignment, unlike SELECT INTO, runs without the executor
    v_items jsonb[] := '{}'::jsonb[];
begin
    o_value := p_value;
    if p_value is null or p_value = 'null' and not v_types @> '"null"' then
        o_value := p_schema -> 'default';
        if o_value is null then
            o_problem := format('%s is missing', coalesce(nullif(p_path, ''), 'the object'));
        end if;
        return;
    end if;
    if p_value = 'null' then
        return;
    end if;

    v_text := p_value #>> '{}';
    case
        when jsonb_typeof(p_value) = 'object' and v_types @> '"object"' then
            o_value := '{}';
            for v_key, v_part in
                select e.key, e.value from jsonb_each(p_schema -> 'properties') as e
            loop
                v_found := recall._fitted(p_value -> v_key, v_part,
                                          ltrim(p_path || '.' || v_key, '.'));
                o_problem := v_found.o_problem;
                exit when o_problem is not null;
                o_value := o_value || jsonb_build_object(v_key, v_found.o_value);
            end loop;
        when jsonb_typeof(p_value) = 'array' and v_types @> '"array"' then
            for v_part, v_place in
                select e.value, e.place
                  from jsonb_array_elements(p_value) with ordinality as e (value, place)
            loop
                v_found := recall._fitted(v_part, p_schema -> 'items',
                                          format('%s.%s', p_path, v_place - 1));
                o_problem := v_found.o_problem;
                exit when o_problem is not null;
                v_items := array_append(v_items, v_found.o_value);
            end loop;
            o_value := to_jsonb(v_items);
        when jsonb_typeof(p_value) = 'string' and v_types @> '"string"' then
            o_value := to_jsonb(btrim(v_text, E' \t\r\n'));
            if p_schema ? 'enum' and not p_schema -> 'enum' @> o_value then
                o_value := coalesce((
                    select e.word
                      from jsonb_array_elements(p_schema -> 'enum') as e (word)
                     where lower(e.word #>> '{}' collate pg_c_utf8)
                           = lower(btrim(v_text, E' \t\r\n') collate pg_c_utf8)
                     limit 1), p_schema -> 'default');
            end if;
        when v_types @> '"integer"' and v_text ~ '^-?[0-9]{1,9}([.]0+)?$' then
            o_value := to_jsonb(trunc(v_text::numeric)::integer);
        when v_types @> '"number"' and v_text ~ '^-?[0-9]{1,30}([.][0-9]{1,30})?$' then
            o_value := to_jsonb(v_text::numeric);
        when v_types @> '"boolean"' and lower(v_text collate "C") in ('true', 'false') then
            o_value := to_jsonb(v_text::boolean);
        else
            o_value := null;
    end case;
    if o_value is null and o_problem is null then
        o_problem := format('%s is not %s', coalesce(nullif(p_path, ''), 'it'), coalesce(
            'one of ' || (p_schema -> 'enum')::text,
            'of type ' || array_to_string(recall._schema_types(p_schema), ' or ')));
    end if;
end;
$function$;

comment on function recall._fitted(jsonb, jsonb, text) is
    'A value fitted to a JSON schema, with the parts that a model left out; or what does not fit.';
