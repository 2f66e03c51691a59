-- recall._guard_words(text) -> its words in order, for the near-duplicate guard
-- Lower case, no quotes, brackets or closing punctuation, no articles. A capital A inside a text, a
-- last one, and one after "vitamin", "type", … is a letter, not an article: vitamin A is not
-- vitamin D. Signs that may matter (c++, -5, 10%, :-() stay.
create or replace function recall._guard_words(
    p_text text
)
returns text[]
language sql
immutable
parallel safe
return (
    select coalesce(array_agg(
               lower(coalesce(nullif(w.bare, ''), w.raw) collate pg_c_utf8)
               order by w.place), '{}')
      from (
            select t.raw, t.place, b.bare,
                   lead(t.place) over (order by t.place) is null as is_last,
                   lower(lag(b.bare) over (order by t.place)) as previous
              from regexp_split_to_table(
                       btrim(translate(normalize(p_text, nfkc), '’‘', ''''''),
                             E' \t\n\r'), '\s+')
                       with ordinality as t (raw, place)
             cross join lateral (
                    select regexp_replace(
                               t.raw,
                               '^[][(){}"''“”«»„¿¡]+|[][(){}"''“”«».,;:!?…。、，！？]+$', '', 'g')
                   ) as b (bare)
           ) as w
     where w.raw <> ''
       and (w.bare <> '' or w.raw !~ '^([-–—&/|•*]|[]["''“”«».,;!?…。、，！？]+)$')
       and not (w.bare in ('a', 'an', 'the') or w.place = 1 and w.bare in ('A', 'An', 'The'))
        or w.bare in ('a', 'A')
           and (w.is_last
                or w.previous ~ ('^(vitamin|hepatitis|influenza|type|grade|class|group|plan|level|'
                                 'category|section|team|option|model|terminal|building|note|key|'
                                 'letter)s?$'))
);

comment on function recall._guard_words(text) is
    'Words of a text in order: lower case, without articles and closing punctuation.';
