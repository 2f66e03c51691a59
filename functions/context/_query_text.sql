-- Return what to search for: the query, or else the text of the current message; NULL without both.
create or replace function recall._query_text(
    p_query   text,
    p_current jsonb
)
returns text
language sql
immutable
parallel safe
return coalesce(
    nullif(p_query, ''),
    nullif(recall._content_text(
        case when jsonb_typeof(p_current -> 'content') = 'string' then p_current ->> 'content' end,
        case when jsonb_typeof(p_current -> 'content') = 'array' then p_current -> 'content' end),
        ''));

comment on function recall._query_text(text, jsonb) is
    'The query of a context: the given one, or else the text of the current message.';
