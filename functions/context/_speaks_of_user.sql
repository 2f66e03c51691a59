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
set search_path from current
as $function$
declare
    v_query constant text := translate(
        lower(normalize(left(p_query, 1000), nfkc) collate pg_c_utf8), '’‘', '''''');
begin
    return 'self' = any (recall._clause_meanings(recall._clause_words(v_query)));
end;
$function$;

comment on function recall._speaks_of_user(text) is
    'Whether a query has a word for its author, in any language of recall.verbatim_phrases.';
