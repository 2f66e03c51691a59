-- Return the tokens of pieces of a prompt, on the safe side.
-- Of a ciphertext only its longest form is known: a token for each two characters.
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
           + coalesce(sum((e.piece ->> 'max_characters')::integer / 2) filter (
                        where jsonb_typeof(e.piece) = 'object'), 0)::integer
      from jsonb_array_elements(p_pieces) as e (piece));

comment on function recall._pieces_tokens(jsonb) is
    'Tokens of pieces of a prompt, on the safe side.';
