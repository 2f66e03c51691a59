-- Return the text of a message.
create or replace function recall._content_text(
    p_content text,
    p_parts   jsonb
)
returns text
language sql
immutable
parallel safe
return coalesce(
    p_content,
    (select string_agg(e.part ->> 'text', E'\n' order by e.ordinal)
       from jsonb_array_elements(p_parts) with ordinality as e (part, ordinal)
      where e.part ->> 'type' = 'text'),
    '');

comment on function recall._content_text(text, jsonb) is
    'Text of a message: its content, or its text parts, one per line; empty when it has none.';
