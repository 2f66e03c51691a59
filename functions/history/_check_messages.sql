-- Reject a malformed list of messages.
-- Raises  RC003 with element and field.
create or replace function recall._check_messages(
    p_messages jsonb
)
returns void
language plpgsql
stable
parallel safe
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_problem text;
begin
    if p_messages is null or jsonb_typeof(p_messages) <> 'array' then
        v_problem := 'messages is not a list';
    elsif p_messages = '[]' then
        v_problem := 'messages is empty';
    else
        for v_number in 0 .. jsonb_array_length(p_messages) - 1 loop
            v_problem := recall._judge_message(p_messages -> v_number);
            if v_problem is not null then
                v_problem := concat(
                    format('messages[%s]%s', v_number, v_problem),
                    ' is ' || left((p_messages -> v_number -> ltrim(v_problem, '.'))::text, 80));
                exit;
            end if;
        end loop;
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
