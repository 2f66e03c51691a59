-- Return the fields of a message that have no column, as {"extra": {…}} or {}.
create or replace function recall._message_extra(
    p_message jsonb
)
returns jsonb
language plpgsql
immutable
parallel safe
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_fields jsonb := jsonb_strip_nulls(
        p_message - '{role,content,name,tool_calls,tool_call_id,token_count,created_at,model_id,'
                    'finish_reason,latency_ms,model_call_id,metadata}'::text[]);
begin
    if p_message ->> 'content' is null then
        v_fields := v_fields - 'refusal';
    end if;
    return case when v_fields = '{}' then '{}' else jsonb_build_object('extra', v_fields) end;
end;
$function$;

comment on function recall._message_extra(jsonb) is
    'Fields of a message without a column, as metadata {"extra": …}.';
