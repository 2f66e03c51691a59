-- Return the words of a text in order, for the near-duplicate guard.
-- Lower case, without quotes, brackets and articles; a comma replaces any sign that sets a part
-- off. "doesn't" is "does not", and number words up to twelve are digits. Signs that may matter
-- (c++, -5, 10%, :-() stay.
create or replace function recall._guard_words(
    p_text text
)
returns text[]
language sql
immutable
parallel safe
return (
    select coalesce(
               array_agg(coalesce(
                   (array_position(
                       '{zero,one,two,three,four,five,six,seven,eight,nine,ten,eleven,twelve}',
                       e.word) - 1)::text,
                   e.word) order by w.place, e.part),
               '{}')
      from (
            select t.raw, t.place, b.bare,
                   lead(t.place) over (order by t.place) is null as is_last,
                   lower(lag(b.bare) over (order by t.place)) as previous
              from regexp_split_to_table(
                       btrim(
                           recall._written_out(
                               translate(normalize(p_text, nfkc), '’‘', '''''')
                           ) collate pg_c_utf8,
                           E' \t\n\r'),
                       '\s+')
                       with ordinality as t (raw, place)
             cross join lateral (
                    select regexp_replace(
                               t.raw,
                               '^[][(){}"''“”«»„¿¡]+|[][(){}"''“”«».,;:!?…。、，！？]+$', '', 'g')
                   ) as b (bare)
           ) as w
     cross join lateral (
            values (1, case when w.raw ~ '^[[({“«„]|^[-–—]$' then ',' end),
                   (2, lower(coalesce(nullif(w.bare, ''), w.raw) collate pg_c_utf8)),
                   (3, case when w.raw ~ '[],;:)}”»]$' and not w.is_last then ',' end)
           ) as e (part, word)
     where e.word <> ''
       and (e.part <> 2
            or w.bare <> '' and w.bare not in ('a', 'an', 'the')
               and not (w.place = 1 and w.bare in ('A', 'An', 'The'))
            or w.bare = '' and w.raw !~ '^([-–—&/|•*]|[]["''“”«».,;!?…。、，！？]+)$'
            -- "A" inside a text, a last "a" and one after "vitamin", … are letters, not articles
            or w.bare in ('a', 'A')
               and (w.is_last
                    or w.previous ~ ('^(vitamin|hepatitis|influenza|type|grade|class|group|plan|'
                                     'level|category|section|team|option|model|terminal|'
                                     'building|note|key|letter)s?$')))
);

comment on function recall._guard_words(text) is
    'Words of a text in order: lower case, without articles; a comma for each break.';
