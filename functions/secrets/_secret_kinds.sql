-- List the patterns that may match a text: those of which it has what they need.
-- Of a long text the words will do that it contains, and names of keys are narrowed to those that
-- its characters spell: a match costs what the whole expression is long, 12 us with all 32 words
-- and 3 us with one. Short texts share their expressions: PostgreSQL keeps 32 compiled ones.
create or replace function recall._secret_kinds(
    p_text    text,
    p_classes text[]
)
returns table (
    class   text,
    mark    text,
    pattern text
)
language plpgsql
immutable
parallel safe
set search_path from current
as $function$
declare
    v_words constant text[] := recall._secret_key_words();
    v_names text[] := v_words;
    v_text  text   := lower(p_text collate "C");
begin
    if length(v_text) > 20000 then
        v_names := recall._spelled_words(v_text, v_words);
        v_text  := array_to_string(
            recall._words_in(v_text, array(
                select unnest(p.needs)
                  from recall._secret_patterns() as p
                 where p.class = any (p_classes))), E'\n');
    end if;
    return query
    select p.class, p.mark,
           replace(p.pattern collate "C", array_to_string(v_words, '|'),
                   array_to_string(case when v_names = '{}' then v_words[:1] else v_names end, '|'))
      from recall._secret_patterns() as p
     where p.class = any (p_classes)
       and exists (
           select from unnest(p.needs) as n (need) where strpos(v_text collate "C", n.need) > 0);
end;
$function$;

comment on function recall._secret_kinds(text, text[]) is
    'The patterns of secrets that may match a text, by what each of them needs.';
