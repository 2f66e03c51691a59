-- Reject a JSON value that a client could not parse, by the name of its parameter.
-- Every public function calls it for each of its jsonb parameters. A document of export_user has
-- four levels around the stored values.
-- Raises  RC003.
create or replace function recall._check_json(
    p_value  jsonb,
    p_name   text,
    p_levels integer default 64
)
returns void
language plpgsql
immutable
strict
parallel safe
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_problem constant text := case when p_value <> '{}'
                                    then recall._json_problem(p_value, p_levels) end;
begin
    if v_problem is not null then
        raise exception using
            errcode = 'RC003',
            message = format('%s %s', p_name, v_problem),
            hint    = format('At most %s levels of arrays and objects, and numbers of at most 400 '
                             'characters: else no client could read it again.', p_levels);
    end if;
end;
$function$;

comment on function recall._check_json(jsonb, text, integer) is
    'Reject a JSON value that clients could not parse (RC003).';
