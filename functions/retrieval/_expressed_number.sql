-- Return the number that a word or digits express.
create or replace function recall._expressed_number(
    p_word text
)
returns integer
language sql
immutable
parallel safe
return coalesce(
    (jsonb '{"a": 1, "an": 1, "one": 1, "two": 2, "a couple of": 2, "three": 3, "a few": 3,
             "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10,
             "eleven": 11, "twelve": 12}' ->> p_word),
    p_word)::integer;

comment on function recall._expressed_number(text) is
    'The number that a word of an expression of time means.';
