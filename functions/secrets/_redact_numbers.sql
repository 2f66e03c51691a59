-- Replace the numbers of cards or IBANs in a text.
-- Unlike other secrets, a number must have valid check digits to be replaced.
create or replace function recall._redact_numbers(
    p_text    text,
    p_class   text,
    p_mark    text,
    p_pattern text
)
returns text
language plpgsql
immutable
parallel safe
set search_path to pg_catalog, recall, pg_temp
as $function$
begin
    return (
        select string_agg(case when c.is_secret then p_mark else c.piece end, '' order by c.place)
          from recall._secret_pieces(p_text, p_class, p_pattern) as c);
end;
$function$;

comment on function recall._redact_numbers(text, text, text, text) is
    'A text with masked numbers whose check digits are valid.';
