-- Describe why a client could not parse a JSON value; NULL when it can.
-- JSON parsers recurse, and Python rejects integers of more than 4,300 digits: such a value would
-- make every later read fail. 400 characters suffice for any double precision number.
create or replace function recall._json_problem(
    p_value  jsonb,
    p_levels integer
)
returns text
language plpgsql
immutable
strict
parallel safe
set search_path to pg_catalog, recall, pg_temp
as $function$
begin
    if jsonb_path_exists(p_value, case p_levels
           when 64 then jsonpath 'strict $.**{64} ? (@.type() == "array" || @.type() == "object")'
           else jsonpath 'strict $.**{68} ? (@.type() == "array" || @.type() == "object")' end) then
        return format('is nested more than %s levels deep', p_levels);
    end if;
    -- Numbers are rare and short, so look at them alone first: a pattern over the whole text takes
    -- three times as long, and an expression with a subquery starts an executor at every call.
    if p_value @? 'strict $.** ? (@.type() == "number").string() ? (@ like_regex "^.{100}")' then
        if exists (
            select
              from jsonb_path_query(p_value, 'strict $.** ? (@.type() == "number")') as n (item)
             where length(ltrim(n.item::text, '-')) > 400
        ) then
            return 'holds a number of more than 400 characters';
        end if;
    end if;
    return null;
end;
$function$;

comment on function recall._json_problem(jsonb, integer) is
    'Return why clients cannot read a JSON value: its nesting depth, or the length of a number.';
