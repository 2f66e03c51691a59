-- Build a tsquery of one word.
-- The word is quoted, so that none of its characters is an operator.
create or replace function recall._term_query(
    p_word      text,
    p_is_prefix boolean default false
)
returns tsquery
language sql
immutable
parallel safe
return ('''' || replace(replace(p_word, '\', '\\'), '''', '''''') || ''''
        || case when p_is_prefix then ':*' else '' end)::tsquery;

comment on function recall._term_query(text, boolean) is
    'A tsquery that finds one word, or all words that begin with it.';
