-- Reject a text that is too long, by the name of its parameter.
-- The database knows only the bytes of a ciphertext, at most four for each character. The driver
-- counts the characters.
-- Raises  RC003.
create or replace function recall._check_text(
    p_text       text,
    p_name       text,
    p_characters integer default 200
)
returns void
language plpgsql
immutable
strict
parallel safe
set search_path to pg_catalog, recall, pg_temp
as $function$
begin
    if length(p_text) > p_characters
       and not (recall._is_sealed(p_text) and recall._text_length(p_text) <= 4 * p_characters) then
        raise exception using
            errcode = 'RC003',
            message = format('%s has %s characters, more than %s', p_name,
                             recall._text_length(p_text), p_characters),
            hint    = 'Shorten it.';
    end if;
end;
$function$;

comment on function recall._check_text(text, text, integer) is
    'Reject a text of more than some characters (RC003).';
