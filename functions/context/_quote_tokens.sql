-- recall._quote_tokens(line, quoted, content, token_count) -> tokens of the line
-- A turn that is quoted as it was said has its own count, and only its frame is estimated.
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
return 2 + case when p_quoted = p_content
                then least(p_token_count, recall._estimate_tokens(p_quoted))
                     + recall._estimate_tokens(left(p_line, -length(p_quoted)))
                else recall._estimate_tokens(p_line) end;

comment on function recall._quote_tokens(text, text, text, integer) is
    'Tokens of a quoted turn, exact where its count is known, else on the safe side.';
