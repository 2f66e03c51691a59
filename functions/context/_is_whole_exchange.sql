-- recall._is_whole_exchange(calls, answers) -> may it be sent?
-- The calls of a message and the ids of the tool messages after it: whole means that the answers
-- are those to its calls, each and no other.
create or replace function recall._is_whole_exchange(
    p_tool_calls jsonb,
    p_answers    text[]
)
returns boolean
language plpgsql
immutable
parallel safe
set search_path from current
as $function$
begin
    if p_tool_calls is null then
        return p_answers = '{}';
    end if;
    return array(select distinct a.id from unnest(p_answers) as a (id) order by 1)
           = array(select c.call ->> 'id' from jsonb_array_elements(p_tool_calls) as c (call)
                    order by 1);
end;
$function$;

comment on function recall._is_whole_exchange(jsonb, text[]) is
    'Whether a message and the tool messages after it form a valid stretch of a transcript.';
