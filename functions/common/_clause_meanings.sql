-- Return the meanings of the phrases that occur anywhere in a clause.
-- Phrases have up to three words, or are an ending of the last word.
create or replace function recall._clause_meanings(
    p_words text[]
)
returns text[]
language sql
stable
parallel safe
as $function$
    select array(
        select distinct p.meaning
          from recall.verbatim_phrases as p
         where p.place  = 'any'
           and p.phrase = any(array(
                select array_to_string(p_words[a.begin : a.begin + l.size - 1], ' ')
                  from generate_series(1, cardinality(p_words)) as a (begin)
                 cross join generate_series(1, 3) as l (size)
                union all
                select '-' || right(p_words[cardinality(p_words)], e.size)
                  from generate_series(2, 5) as e (size)
                 where length(p_words[cardinality(p_words)]) > e.size)));
$function$;

comment on function recall._clause_meanings(text[]) is
    'Meanings of the phrases that occur anywhere in a clause: self, always, you, question, '
    'personal, material.';
