-- Return the tsvector of "name or role: text".
-- The words of the name have weight A, so that a search can distinguish the speaker from a person
-- mentioned. The name ends at the first colon.
create or replace function recall._message_words(
    p_language regconfig,
    p_text     text
)
returns tsvector
language sql
immutable
parallel safe
return setweight(recall._text_words(p_language, split_part(p_text, ': ', 1)), 'A')
       || recall._text_words(p_language, substr(p_text, strpos(p_text, ': ') + 2));

comment on function recall._message_words(regconfig, text) is
    'Words of a message as indexed; those of the speaker''s name have weight A.';
