-- List the words whose characters all occur in a text, at any position.
create or replace function recall._spelled_words(
    p_text  text,
    p_words text[]
)
returns text[]
language plpgsql
immutable
parallel safe
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_missing text;
begin
    select coalesce(string_agg(s.sign, ''), '')
      into v_missing
      from (
            select distinct string_to_table(w.word, null) as sign
              from unnest(p_words) as w (word)) as s
     where strpos(p_text collate "C", s.sign) = 0;
    return array(
        select w.word
          from unnest(p_words) as w (word)
         where translate(w.word, v_missing, '') = w.word);
end;
$function$;

comment on function recall._spelled_words(text, text[]) is
    'The words whose characters all occur in a text.';
