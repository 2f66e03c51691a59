-- recall._found_words(vector, words) -> which of the words a message has
-- Marks them with a weight that no message has and keeps what is marked: one expression a row,
-- however many words there are.
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
    'Which of some words a message has.';
