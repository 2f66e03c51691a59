-- Tell whether two word lists are equal but for hyphens and spaces.
-- A hyphen between letters equals a space (left-handed); between a number and a unit both are
-- optional (16 GB, 7 pm). Between two numbers both are significant. The first condition rejects
-- most pairs without a regular expression.
create or replace function recall._spelled_alike(
    p_one   text[],
    p_other text[]
)
returns boolean
language sql
immutable
parallel safe
return translate(array_to_string(p_one, ''), '- ', '')
       = translate(array_to_string(p_other, ''), '- ', '')
   and (
    select count(distinct regexp_replace(
               regexp_replace(array_to_string(w.words, ' ') collate pg_c_utf8,
                              '([[:alpha:]])-(?=[[:alpha:]])',
                              '\1 ', 'g'),
               '(\d) (?=[[:alpha:]])', '\1', 'g')) = 1
      from (values (p_one), (p_other)) as w (words));

comment on function recall._spelled_alike(text[], text[]) is
    'Whether two texts are equal but for hyphens and the space after numbers.';
