-- Return the first problem of a message's tool calls, or NULL.
-- See recall._check_message_names for the limit of an id.
create or replace function recall._judge_tool_calls(
    p_calls jsonb
)
returns text
language plpgsql
immutable
parallel safe
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_problem text;
begin
    if jsonb_typeof(p_calls) <> 'array' then
        return '.tool_calls is not a list';
    end if;

    select format('.tool_calls[%s]%s', e.ordinal - 1, p.problem)
      into v_problem
      from (
            select t.call, t.ordinal,
                   count(*) over (partition by t.call ->> 'id' order by t.ordinal) as nth
              from jsonb_array_elements(p_calls) with ordinality as t (call, ordinal)
           ) as e
     cross join lateral (
            select case
                when jsonb_typeof(e.call) <> 'object' then ' is not an object'
                when jsonb_typeof(e.call -> 'id') is distinct from 'string' or e.call ->> 'id' = ''
                    then '.id is missing'
                when length(e.call ->> 'id') > 100000
                    then format('.id has %s characters, more than 100000',
                                length(e.call ->> 'id'))
                when length(coalesce(e.call #>> '{function,name}', e.call #>> '{custom,name}'))
                     > 200
                    then format('.%s.name has %s characters, more than 200',
                                case when e.call #>> '{function,name}' is null then 'custom'
                                     else 'function' end,
                                length(coalesce(e.call #>> '{function,name}',
                                                e.call #>> '{custom,name}')))
                when e.nth > 1 then format('.id %s stands twice', left(e.call ->> 'id', 80))
                when e.call ->> 'type' = 'custom'
                    then case when jsonb_typeof(e.call #> '{custom,name}')
                                   is distinct from 'string'
                                or jsonb_typeof(e.call #> '{custom,input}')
                                   is distinct from 'string'
                              then '.custom needs name and input' end
                when e.call ->> 'type' is distinct from 'function'
                    then format('.type is %s', coalesce(left(e.call ->> 'type', 80), 'missing'))
                when jsonb_typeof(e.call #> '{function,name}') is distinct from 'string'
                    then '.function.name is missing'
                when jsonb_typeof(e.call #> '{function,arguments}') is distinct from 'string'
                    then '.function.arguments is not a text'
            end
           ) as p (problem)
     where p.problem is not null
     order by e.ordinal
     limit 1;
    return v_problem;
end;
$function$;

comment on function recall._judge_tool_calls(jsonb) is
    'The first problem of the tool calls of a message; NULL when they are valid.';
