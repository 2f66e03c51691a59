-- Reject unknown keys of an object, so that a misspelled option is not ignored.
-- Raises  RC003 with the unknown keys and the known ones.
create or replace function recall._check_keys(
    p_object  jsonb,
    p_allowed text[],
    p_what    text
)
returns void
language plpgsql
immutable
parallel safe
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_unknown text;
begin
    if p_object is null or jsonb_typeof(p_object) <> 'object' then
        raise exception using
            errcode = 'RC003',
            message = format('%s is %s, not a JSON object', p_what,
                             coalesce(jsonb_typeof(p_object), 'null')),
            hint    = 'Pass an object such as ''{}''.';
    end if;

    if p_object - p_allowed <> '{}' then
        select string_agg(k.key, ', ' order by k.key)
          into v_unknown
          from jsonb_object_keys(p_object - p_allowed) as k (key);
        raise exception using
            errcode = 'RC003',
            message = format('unknown key in %s: %s', p_what, left(v_unknown, 200)),
            hint    = 'Known keys: ' || array_to_string(p_allowed, ', ');
    end if;
end;
$function$;

comment on function recall._check_keys(jsonb, text[], text) is
    'Reject a value that is not an object or has unknown keys (RC003).';
