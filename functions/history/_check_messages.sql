-- Reject a malformed list of messages.
-- Raises  RC003 with element and field.
create or replace function recall._check_messages(
    p_messages jsonb
)
returns void
language plpgsql
stable
parallel safe
set search_path from current
as $function$
declare
    v_problem text;
begin
    if p_messages is null or jsonb_typeof(p_messages) <> 'array' then
        v_problem := 'messages is not a list';
    elsif p_messages = '[]' then
        v_problem := 'messages is empty';
    else
        select concat(format('messages[%s]%s', m.ordinal - 1, m.problem),
                      ' is ' || left((p_messages -> (m.ordinal - 1)::integer
                                                 -> ltrim(m.problem, '.'))::text, 80))
          into v_problem
          from (
                select e.ordinal, recall._judge_message(e.message) as problem
                  from jsonb_array_elements(p_messages) with ordinality as e (message, ordinal)
                offset 0  -- so that each message is judged once
               ) as m
         where m.problem is not null
         order by m.ordinal
         limit 1;
    end if;

    if v_problem is not null then
        raise exception using
            errcode = 'RC003',
            message = v_problem,
            hint    = 'A message is an object of the OpenAI chat format: role, content, name, '
                      'tool_calls, tool_call_id; and of ours: token_count, created_at, model_id, '
                      'finish_reason, latency_ms, metadata.';
    end if;
end;
$function$;

comment on function recall._check_messages(jsonb) is 'Reject a malformed list of messages (RC003).';
