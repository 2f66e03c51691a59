-- recall._query_text(query, current message) -> what to look for, or NULL
-- Without a query the current message is one.
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
    'The query of a context: as given, else the text of the current message.';
