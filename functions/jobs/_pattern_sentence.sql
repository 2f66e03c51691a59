-- Return the sentence of a pattern without the solutions behind it.
create or replace function recall._pattern_sentence(
    p_content text
)
returns text
language sql
immutable
parallel safe
return split_part(p_content, recall._pattern_separator(), 1);

comment on function recall._pattern_sentence(text) is
    'Sentence of a pattern, without the solutions behind it.';
