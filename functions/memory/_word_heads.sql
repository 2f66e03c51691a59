-- Return the first three letters of the words of a text, each once, without articles.
-- They are equal in most forms of a word and cost 10 µs; recall._shares_words compares them.
create or replace function recall._word_heads(
    p_text text
)
returns text[]
language sql
immutable
parallel safe
return array(
    select distinct left(w.word, 3)
      from regexp_split_to_table(lower(p_text collate pg_c_utf8), '[^[:alpha:]]+') as w (word)
     where w.word not in ('', 'a', 'an', 'the'));

comment on function recall._word_heads(text) is
    'First three letters of each word of a text.';
