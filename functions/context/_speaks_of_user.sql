-- Tell whether a query has a word for its author, such as "my" or "ich", in any language.
-- Of the questions about a user 84 % have one, of general questions 10 %
-- (benchmarks/context_questions.txt). The words are those of verbatim extraction.
create or replace function recall._speaks_of_user(
    p_query text
)
returns boolean
language plpgsql
stable
parallel safe
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_words constant text[] := recall._clause_words(translate(
        lower(normalize(left(p_query, 1000), nfkc) collate pg_c_utf8), '’‘', ''''''));
begin
    -- Most phrases are one word, and all phrases of the query take five times as long.
    if exists (
        select
          from recall.verbatim_phrases as p
         where p.place   = 'any'
           and p.phrase  = any (v_words)
           and p.meaning = 'self'
    ) then
        return true;
    end if;
    return 'self' = any (recall._clause_meanings(v_words));
end;
$function$;

comment on function recall._speaks_of_user(text) is
    'Whether a query has a word for its author, in any language of recall.verbatim_phrases.';
