-- Return the text of a message that is embedded and indexed: "name or role: text".
-- The speaker's name improves search from 30.3 to 45.9 of a hundred turns. NULL without text, such
-- as bare tool calls. The length is limited: a tsvector has at most 1 MB, and models read a few
-- thousand words.
create or replace function recall._message_text(
    p_role           text,
    p_name           text,
    p_content        text,
    p_parts          jsonb,
    p_max_characters integer default 32000
)
returns text
language sql
immutable
parallel safe
return (
    select left(coalesce(nullif(btrim(p_name), ''), p_role) || ': ' || btrim(t.content),
                -- A cut ciphertext cannot be decrypted, so keep it whole.
                case when starts_with(t.content, 'sealed:v1:') then 1000000000
                     else p_max_characters end)
      from recall._content_text(p_content, p_parts) as t (content)
     where t.content collate pg_c_utf8 ~ '\S'
);

comment on function recall._message_text(text, text, text, jsonb, integer) is
    'Embedded and indexed text of a message: "name or role: text"; NULL without text.';
