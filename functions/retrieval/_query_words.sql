-- Return the words of a query in the user's language, each once and in order.
-- Stop words are removed. It reads only the beginning of a long query and 64 words, so a pasted
-- text costs no more than a question.
create or replace function recall._query_words(
    p_query    text,
    p_settings recall.settings
)
returns text[]
language plpgsql
stable
parallel safe
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_most constant integer := 64;
begin
    return array(
        select u.lexeme
          from unnest(recall._text_words(p_settings.language::regconfig, left(p_query, 10000))) as u
         order by u.positions[1], u.lexeme
         limit v_most);
end;
$function$;

comment on function recall._query_words(text, recall.settings) is
    'Words of a query as they are indexed, at most 64.';
