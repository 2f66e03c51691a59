-- List the patterns whose `needs` a text contains.
-- For a long text only contained words count, and key names are narrowed to those that its
-- characters can spell. The time of a match grows with the length of the expression: 12 µs with all
-- 32 words, 3 µs with one. Short texts share expressions, because PostgreSQL caches 32 compiled
-- ones.
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
set search_path to pg_catalog, recall, pg_temp
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
    'The patterns of secrets whose needs a text contains.';
