-- Tell whether words deny something or generalize.
-- Detail makes such a text weaker instead of stronger. "Every" and "each" before a time do not
-- count: "runs every morning" allows for "in the park". p_times matches a word for a time.
create or replace function recall._is_denied_or_general(
    p_words text[],
    p_times text
)
returns boolean
language sql
immutable
parallel safe
return exists (
    select
      from unnest(p_words, p_words[2:]) as w (word, next)
     where array[w.word] <@ (
               recall._negating_words()
               || '{all,always,any,anyone,anything,everyone,everybody,everything}'::text[])
        or w.word in ('every', 'each') and w.next !~ p_times);

comment on function recall._is_denied_or_general(text[], text) is
    'Whether words deny something or generalize, so that detail makes them weaker.';
