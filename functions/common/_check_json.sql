-- Reject a JSON value that is too large, or that a client could not parse, by its parameter's name.
-- Every public function calls it for each of its jsonb parameters. A document of export_user has
-- four levels around the stored values. Lists whose elements have limits of their own pass 2^31 - 1
-- bytes.
-- Raises  RC003.
create or replace function recall._check_json(
    p_value  jsonb,
    p_name   text,
    p_levels integer default 64,
    p_bytes  integer default 16777216
)
returns void
language plpgsql
immutable
strict
parallel safe
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    -- #> '{}' decompresses a value from a table, whose size would be the compressed one.
    v_bytes   constant integer := pg_column_size(p_value #> '{}');
    v_problem text;
begin
    if v_bytes > p_bytes then
        raise exception using
            errcode = 'RC003',
            message = format('%s has %s bytes, more than %s', p_name, v_bytes, p_bytes),
            hint    = 'Keep large values elsewhere, and a reference to them here.';
    end if;
    v_problem := case when p_value <> '{}' then recall._json_problem(p_value, p_levels) end;
    if v_problem is not null then
        raise exception using
            errcode = 'RC003',
            message = format('%s %s', p_name, v_problem),
            hint    = format('At most %s levels of arrays and objects, and numbers of at most 400 '
                             'characters: else no client could read it again.', p_levels);
    end if;
end;
$function$;

comment on function recall._check_json(jsonb, text, integer, integer) is
    'Reject a JSON value that is too large or that clients could not parse (RC003).';
