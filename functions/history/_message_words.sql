-- recall._message_words(language, text) -> tsvector of "name or role: text"
-- The words of the name carry the weight A, so that a search can tell who speaks from who is spoken
-- of. A name ends at the first colon.
create or replace function recall._message_words(
    p_language regconfig,
    p_text     text
)
returns tsvector
language sql
immutable
parallel safe
return setweight(to_tsvector(p_language, split_part(p_text, ': ', 1)), 'A')
       || to_tsvector(p_language, substr(p_text, strpos(p_text, ': ') + 2));

comment on function recall._message_words(regconfig, text) is
    'Words of a message as it is indexed, those of the speaker''s name with the weight A.';
