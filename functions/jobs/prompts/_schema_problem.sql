-- Return the problem with a JSON schema that replaces a shipped one; NULL when there is none.
-- A step reads the fields of the shipped schema: each must exist, with no type or enum value that
-- the step does not expect. More fields are allowed.
create or replace function recall._schema_problem(
    p_schema jsonb,
    p_needed jsonb,
    p_path   text
)
returns text
language plpgsql
immutable
parallel safe
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_what    constant text   := coalesce(nullif(p_path, ''), 'the answer');
    v_types   constant text[] := case when jsonb_typeof(p_schema) = 'object'
                                      then recall._schema_types(p_schema) end;
    v_wanted  constant text[] := recall._schema_types(p_needed);
    v_key     text;
    v_problem text;
begin
    if v_types is null or v_types = '{}' or array_position(v_types, null) is not null
       or not v_types <@ '{object,array,string,number,integer,boolean,"null"}'::text[] then
        return v_what || ' has no "type" of JSON Schema';
    end if;
    -- An integer is valid where a number is expected.
    if p_needed is not null and not array_remove(v_types, 'integer') <@ v_wanted
       or p_needed is not null and 'integer' = any (v_types)
          and not v_wanted && '{integer,number}'::text[] then
        return format('%s is of type %s, not %s', v_what, array_to_string(v_types, ' or '),
                      array_to_string(v_wanted, ' or '));
    end if;
    if p_schema ? 'enum' and (jsonb_typeof(p_schema -> 'enum') <> 'array'
                              or p_schema -> 'enum' = '[]')
       or p_needed ? 'enum' and not coalesce(p_schema -> 'enum', '[null]')
                                    <@ (p_needed -> 'enum') then
        return format('%s has enum %s, not one of %s', v_what,
                      coalesce(left((p_schema -> 'enum')::text, 80), 'none'),
                      coalesce((p_needed -> 'enum')::text, 'some words'));
    end if;
    if exists (
        select from jsonb_each(p_schema) as e
         where e.key in ('maxLength', 'minLength', 'maxItems', 'minItems')
           and e.value::text !~ '^[0-9]{1,9}$') then
        return v_what || ' has a length that is no whole number';
    end if;

    -- Strict modes of endpoints want every property required and no others allowed.
    if 'object' = any (v_types) then
        if jsonb_typeof(p_schema -> 'properties') is distinct from 'object'
           or p_schema -> 'additionalProperties' is distinct from 'false'
           or jsonb_typeof(p_schema -> 'required') is distinct from 'array'
           or array(select jsonb_object_keys(p_schema -> 'properties') as k order by k)
              <> array(select jsonb_array_elements_text(p_schema -> 'required') as r order by r)
        then
            return v_what || ' must have "properties", name all of them in "required", and say '
                             '"additionalProperties": false';
        end if;
        for v_key in
            select jsonb_object_keys(p_needed -> 'properties')
            union
            select jsonb_object_keys(p_schema -> 'properties')
            order by 1
        loop
            if not p_schema -> 'properties' ? v_key then
                return format('%s lacks property %s', v_what, v_key);
            end if;
            v_problem := recall._schema_problem(p_schema -> 'properties' -> v_key,
                                                p_needed -> 'properties' -> v_key,
                                                ltrim(p_path || '.' || v_key, '.'));
            exit when v_problem is not null;
        end loop;
    end if;
    if v_problem is null and 'array' = any (v_types) then
        v_problem := recall._schema_problem(p_schema -> 'items', p_needed -> 'items',
                                            p_path || '[]');
    end if;
    if v_problem is null and p_schema ? 'default' then
        select 'the default of ' || f.o_problem
          into v_problem
          from recall._fitted(p_schema -> 'default', p_schema - 'default', v_what) as f
         where f.o_problem is not null;
    end if;
    return v_problem;
end;
$function$;

comment on function recall._schema_problem(jsonb, jsonb, text) is
    'Problem with a JSON schema that replaces a shipped one; NULL when there is none.';
