-- Return the words of a text in a language.
-- No other function parses text into words, so that stored texts and queries always match.
create or replace function recall._text_words(
    p_language regconfig,
    p_text     text
)
returns tsvector
language sql
immutable
parallel safe
return to_tsvector(p_language, recall._parsed_text(p_text));

comment on function recall._text_words(regconfig, text) is
    'Words of a text, as they are indexed and searched.';
