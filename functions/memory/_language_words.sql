-- Return what recall._fact_words knows of a language: meanings, synonyms and numbers by word.
create or replace function recall._language_words(
    p_language text
)
returns jsonb
language sql
immutable
parallel safe
return jsonb_build_object(
    'meanings', recall._meaning_words(p_language),
    'synonyms', recall._synonyms(p_language),
    'numbers', recall._number_words(p_language));

comment on function recall._language_words(text) is
    'Meanings, synonyms and numbers of a language, by word.';
