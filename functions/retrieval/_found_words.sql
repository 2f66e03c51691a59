-- Return which of the words a message contains.
-- It marks them with a weight that no message has, and keeps the marked ones: one expression a row
-- for any number of words.
create or replace function recall._found_words(
    p_vector tsvector,
    p_words  text[]
)
returns text[]
language sql
immutable
parallel safe
return tsvector_to_array(ts_filter(setweight(p_vector, 'B', p_words), '{b}'));

comment on function recall._found_words(tsvector, text[]) is
    'Which of some words a message contains.';
