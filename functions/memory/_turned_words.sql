-- recall._turned_words(parts, merged) -> words that a merged text says the opposite of
-- When some parts are negated and others are not, each must be recognized on its own side: a word
-- that only it has stands in a clause with, or without, a negation. "Likes tea" and "does not like
-- coffee" are not "does not like tea and coffee".
create or replace function recall._turned_words(
    p_parts  text[],
    p_merged text
)
returns text[]
language plpgsql
immutable
parallel safe
set search_path from current
as $function$
begin
    return array(
        with parts as (
            select p.ordinal, f.forms, 'not' = any (f.forms) as is_negated
              from unnest(p_parts) with ordinality as p (content, ordinal)
             cross join lateral (
                    select array(select w.form from recall._word_forms(p.content) as w)
                   ) as f (forms)
        ), clauses as (
            select f.forms, 'not' = any (f.forms) as is_negated
              from regexp_split_to_table(
                       p_merged collate pg_c_utf8,
                       '[.;:!?](\s|$)|\m(but|and|while|although|though|yet|whereas)\M')
                       as c (content)
             cross join lateral (
                    select array(select w.form from recall._word_forms(c.content) as w)
                   ) as f (forms)
        ), own as (
            select p.ordinal, p.is_negated, w.form
              from parts as p
             cross join unnest(p.forms) as w (form)
             where not exists (
                       select from parts as o
                        where o.is_negated <> p.is_negated and w.form = any (o.forms))
               and w.form <> 'not'
        )
        select min(o.form collate "C")
          from own as o
         where (select count(distinct p.is_negated) from parts as p) = 2
         group by o.ordinal
        having not bool_or(exists (
                   select from clauses as c
                    where c.is_negated = o.is_negated and o.form = any (c.forms)))
         order by 1);
end;
$function$;

comment on function recall._turned_words(text[], text) is
    'Words of parts whose negation a merged text has changed.';
