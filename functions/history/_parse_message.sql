-- Return a valid message as a row of conversation_history, based on a row with its ids.
-- created_at and model_id are NULL unless given. Fields without a column (annotations, reasoning,
-- …) go into metadata under "extra"; a refusal without content becomes a refusal part.
create or replace function recall._parse_message(
    p_row     recall.conversation_history,
    p_message jsonb
)
returns recall.conversation_history
language plpgsql
stable
parallel safe
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_others jsonb := p_message - '{role,content,name,tool_calls,tool_call_id,token_count,'
                                  'created_at,model_id,finish_reason,latency_ms,model_call_id,'
                                  'metadata}'::text[];
begin
    if v_others = '{}' then
        p_row          := jsonb_populate_record(p_row, p_message);
        p_row.metadata := coalesce(p_row.metadata, '{}');
    else
        -- Another field may have the name of a column, such as user_id.
        p_row          := jsonb_populate_record(
            p_row, p_message - array(select k.key from jsonb_object_keys(v_others) as k (key)));
        p_row.metadata := coalesce(p_row.metadata, '{}') || recall._message_extra(p_message);
    end if;

    p_row.tool_calls := nullif(p_row.tool_calls, '[]');
    if p_row.role <> 'tool' then
        p_row.tool_call_id := null;
    end if;
    if jsonb_typeof(p_message -> 'content') = 'array' then
        p_row.content       := case when p_message -> 'content' = '[]' then '' end;
        p_row.content_parts := nullif(p_message -> 'content', '[]');
    elsif p_row.content is null and p_message ->> 'refusal' is not null then
        p_row.content_parts := jsonb_build_array(jsonb_build_object(
            'type', 'refusal', 'refusal', p_message ->> 'refusal'));
    end if;
    return p_row;
end;
$function$;

comment on function recall._parse_message(recall.conversation_history, jsonb) is
    'A valid message as a row of conversation_history.';
