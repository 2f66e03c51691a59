-- Build the word lists of a language: meanings, synonyms and numbers by word.
-- Cost: 0.5 ms; recall._language_words returns a cached copy.
create or replace function recall._word_lists(
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

comment on function recall._word_lists(text) is
    'Meanings, synonyms and numbers of a language, by word, without a cache.';
