-- recall._content_text(content, parts) -> the text of a message
-- Multimodal content: its text parts and refusals, a line each.
create or replace function recall._content_text(
    p_content text,
    p_parts   jsonb
)
returns text
language sql
immutable
parallel safe
begin atomic
    select case
               when p_parts is null then p_content
               else (select string_agg(coalesce(e.part ->> 'text', e.part ->> 'refusal'), e'\n'
                                       order by e.ordinal)
                       from jsonb_array_elements(p_parts) with ordinality as e (part, ordinal)
                      where e.part ->> 'type' in ('text', 'refusal'))
           end;
end;

comment on function recall._content_text(text, jsonb) is
    'Text of a message: its content, or the text parts of it, a line each.';
