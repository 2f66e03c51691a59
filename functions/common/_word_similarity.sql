-- Return the greatest trigram similarity of a word with a part of a text.
create or replace function recall._word_similarity(
    p_word text,
    p_text text
)
returns real
language sql
immutable
strict
parallel safe
return word_similarity(p_word, p_text);

comment on function recall._word_similarity(text, text) is
    'Trigram similarity of a word with a part of a text (pg_trgm).';
