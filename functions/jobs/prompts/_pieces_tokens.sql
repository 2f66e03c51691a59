-- Estimate the tokens of pieces of a prompt, rounded up.
-- For a ciphertext two bytes of its text, up to max_characters, count as one token.
create or replace function recall._pieces_tokens(
    p_pieces jsonb
)
returns integer
language sql
immutable
parallel safe
return (
    select coalesce(recall._estimate_tokens(string_agg(e.piece #>> '{}', '') filter (
                        where jsonb_typeof(e.piece) = 'string')), 0)
           + coalesce(sum(least((e.piece ->> 'max_characters')::integer,
                                recall._text_length(e.piece ->> 'ciphertext')) / 2 + 1) filter (
                        where jsonb_typeof(e.piece) = 'object'), 0)::integer
      from jsonb_array_elements(p_pieces) as e (piece));

comment on function recall._pieces_tokens(jsonb) is
    'Tokens of pieces of a prompt, an estimate from above.';
