-- Return the words between the sentence of a pattern and its solutions.
create or replace function recall._pattern_separator()
returns text
language sql
immutable
parallel safe
return ' Previous solutions: ';

comment on function recall._pattern_separator() is
    'Words between the sentence of a pattern and its solutions.';
