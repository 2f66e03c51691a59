-- Return the first malformed field of a message; NULL for none.
-- It covers fields with a single value; _judge_message checks role, content and tool calls.
create or replace function recall._wrong_message_field(
    p_message jsonb
)
returns text
language plpgsql
stable
parallel safe
set search_path to pg_catalog, recall, pg_temp
as $function$
begin
    return case
        when jsonb_typeof(p_message -> 'created_at') <> 'null'
            and not recall._is_calendar_time(p_message -> 'created_at') then 'created_at'
        when jsonb_typeof(p_message -> 'finish_reason') not in ('string', 'null')
            then 'finish_reason'
        when p_message -> 'latency_ms' <> 'null'
            and (p_message -> 'latency_ms')::text !~ '^[0-9]{1,9}$' then 'latency_ms'
        when jsonb_typeof(p_message -> 'metadata') not in ('object', 'null') then 'metadata'
        when p_message -> 'model_call_id' <> 'null'
            and not pg_input_is_valid(p_message ->> 'model_call_id', 'uuid') then 'model_call_id'
        when jsonb_typeof(p_message -> 'model_id') not in ('string', 'null') then 'model_id'
        when jsonb_typeof(p_message -> 'name') not in ('string', 'null') then 'name'
        when jsonb_typeof(p_message -> 'refusal') not in ('string', 'null') then 'refusal'
        when p_message -> 'token_count' <> 'null'
            and (p_message -> 'token_count')::text !~ '^[0-9]{1,9}$' then 'token_count'
    end;
end;
$function$;

comment on function recall._wrong_message_field(jsonb) is
    'The first malformed field of a message, except role, content and tool calls; NULL for none.';
