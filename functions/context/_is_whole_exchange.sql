-- recall._is_whole_exchange(group) -> may it be sent?
-- Newest first: tool messages, then the message they follow. Whole means that the answers are
-- those to its calls, each and no other.
create or replace function recall._is_whole_exchange(
    p_group recall.conversation_history[]
)
returns boolean
language plpgsql
immutable
parallel safe
set search_path from current
as $function$
declare
    v_head recall.conversation_history := p_group[cardinality(p_group)];
begin
    if v_head.tool_calls is null then
        return cardinality(p_group) = 1;
    end if;
    return array(select distinct g.tool_call_id from unnest(p_group) as g
                  where g.tool_call_id is not null order by 1)
           = array(select c.call ->> 'id' from jsonb_array_elements(v_head.tool_calls) as c (call)
                    order by 1);
end;
$function$;

comment on function recall._is_whole_exchange(recall.conversation_history[]) is
    'Whether a message and the tool messages after it form a valid stretch of a transcript.';
