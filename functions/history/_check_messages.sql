-- recall._check_messages(messages)
-- Raises  RC003.
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
    if p_messages is null or jsonb_typeof(p_messages) <> 'array' or p_messages = '[]' then
        v_problem := case when p_messages = '[]' then 'messages is empty'
                          else 'messages is not a list' end;
    else
        v_problem := recall._judge_messages(p_messages);
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

comment on function recall._check_messages(jsonb) is 'Refuse a malformed list of messages (RC003).';
