-- Count the tokens of a line that quotes a turn.
-- A turn quoted unchanged has its own count, so only the rest of its line is estimated: what
-- precedes the text, its closing mark and the line break. The estimate has a token for the space
-- before the opening mark, which is one token with it.
create or replace function recall._quote_tokens(
    p_line        text,
    p_quoted      text,
    p_content     text,
    p_token_count integer
)
returns integer
language sql
immutable
parallel safe
return case when p_quoted = p_content
            then 1 + least(p_token_count, recall._estimate_tokens(p_quoted))
                 + recall._estimate_tokens(left(p_line, -length(p_quoted) - 1))
            else 2 + recall._estimate_tokens(p_line) end;

comment on function recall._quote_tokens(text, text, text, integer) is
    'Tokens of a quoted turn: its own count where the text is unchanged, otherwise an estimate '
    'that rounds up.';
