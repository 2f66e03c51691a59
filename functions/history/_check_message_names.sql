-- Reject a message with a name that is too long.
-- An id of a tool call may be much longer than a name: a gateway such as LiteLLM appends Gemini's
-- thought signature, some thousand characters, which the model needs in the next request.
-- Raises  RC003, naming element, field, size and limit.
create or replace function recall._check_message_names(
    p_row    recall.conversation_history,
    p_number integer
)
returns void
language plpgsql
immutable
parallel safe
set search_path to pg_catalog, recall, pg_temp
as $function$
begin
    if p_row.model_id = '' then
        raise exception using
            errcode = 'RC003',
            message = format('messages[%s].model_id is empty', p_number),
            hint    = 'Leave it out. Then the model of the session counts.';
    end if;
    perform recall._check_text(p_row.model_id, format('messages[%s].model_id', p_number)),
            recall._check_text(p_row.finish_reason, format('messages[%s].finish_reason', p_number)),
            recall._check_text(p_row.name, format('messages[%s].name', p_number)),
            recall._check_text(p_row.tool_call_id, format('messages[%s].tool_call_id', p_number),
                               100000);
end;
$function$;

comment on function recall._check_message_names(recall.conversation_history, integer) is
    'Reject a message with a name or an id of a tool call that is too long (RC003).';
