-- Estimate the tokens of a message on the safe side.
-- Text parts count by their text, items are never shown and count nothing. Any other part (image,
-- audio, file) counts by a constant, whatever its size.
create or replace function recall._estimate_message_tokens(
    p_content          text,
    p_parts            jsonb,
    p_name             text,
    p_calls            jsonb,
    p_tokens_per_image integer
)
returns integer
language plpgsql
immutable
parallel safe
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_tokens integer := coalesce(recall._estimate_tokens(p_content), 0);
begin
    if p_parts is not null then
        v_tokens := (
            select coalesce(sum(case
                       when e.part ->> 'type' = 'text'
                           then recall._estimate_tokens(e.part ->> 'text')
                       when e.part ->> 'type' = 'refusal'
                           then recall._estimate_tokens(e.part ->> 'refusal')
                       when e.part ->> 'type' = 'item' then 0
                       else p_tokens_per_image
                   end), 0)::integer
              from jsonb_array_elements(p_parts) as e (part));
    end if;
    return v_tokens + coalesce(recall._estimate_tokens(p_name), 0)
           + coalesce(recall._estimate_tokens(p_calls::text), 0);
end;
$function$;

comment on function recall._estimate_message_tokens(text, jsonb, text, jsonb, integer) is
    'Estimated tokens of a message: content or parts, name, tool calls as JSON.';
