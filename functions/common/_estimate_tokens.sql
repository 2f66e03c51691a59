-- recall._estimate_tokens(text) -> tokens, on the safe side
-- For counts that were not given. A plain word costs one token and another for every three letters
-- beyond the first; anything else (digits, hex, capitals, symbols, words with four consonants in a
-- row) one per byte, since byte-pair encodings never need more; spaces one per run of sixteen.
-- tests/test_tokens.py holds it against cl100k_base and o200k_base.
create or replace function recall._estimate_tokens(
    p_text text
)
returns integer
language sql
immutable
parallel safe
begin atomic
    select ceil(w.words + (w.letters - w.words) / 3.0
                + octet_length(regexp_replace(r.rest, ' {1,16}', ' ', 'g')))::integer
      from (
            select regexp_replace(
                       p_text,
                       ' ?\m(?![a-z]*[bcdfghjklmnpqrstvwxz]{4})[A-Za-z][a-z]{0,13}\M', '', 'g')
           ) as r (rest)
     cross join lateral (
            select regexp_count(
                       p_text,
                       ' ?\m(?![a-z]*[bcdfghjklmnpqrstvwxz]{4})[A-Za-z][a-z]{0,13}\M'),
                   length(replace(p_text, ' ', '')) - length(replace(r.rest, ' ', ''))
           ) as w (words, letters);
end;

comment on function recall._estimate_tokens(text) is
    'Tokens of a text estimated on the safe side (never below tiktoken''s count on our samples).';
