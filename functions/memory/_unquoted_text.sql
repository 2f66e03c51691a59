-- Remove from a user's message the text that the user may only pass on.
-- These are quotations, code, markup, quoted lines, and text after a colon unless the user asks to
-- note it. In doubt it removes too much.
create or replace function recall._unquoted_text(
    p_text text
)
returns text
language plpgsql
immutable
parallel safe
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_intro constant text := '\m(remember|note|know|way|fyi|btw|update|correction|important|also'
        '|merk|merke|wichtig|übrigens|notiere|recuerda|nota|importante|rappel|retiens|ricorda'
        '|lembra|onthoud)\M[^.!?\n]*$';
    v_text  text          := translate(normalize(p_text, nfkc), 'ʼ', '''') collate pg_c_utf8;
    v_place integer;
begin
    v_text := regexp_replace(v_text, '```.*?(```|$)', ' . ', 'g');
    v_text := regexp_replace(v_text, '`[^`]*(`|$)', ' . ', 'g');
    v_text := regexp_replace(v_text, '"[^"]*("|$)', ' . ', 'g');
    v_text := regexp_replace(v_text, '[“”„‟][^“”]*([“”]|$)', ' . ', 'g');
    v_text := regexp_replace(v_text, '[«»‹›][^«»‹›]*([«»‹›]|$)', ' . ', 'g');
    v_text := regexp_replace(v_text, '[「『《〈][^」』》〉]*([」』》〉]|$)', ' . ', 'g');
    v_text := regexp_replace(v_text, '(^|\n)[[:blank:]]*[>|][^\n]*', '\1 . ', 'g');
    -- Remove all text after an opening apostrophe or tag, because its end is ambiguous.
    v_text := regexp_replace(v_text, '(^|[^[:alnum:]])[''‘‚][[:alnum:]].*$', '\1 . ');
    v_text := regexp_replace(v_text, '<[[:alpha:]/!?].*$', ' . ');
    loop
        v_place := regexp_instr(v_text, ':(?![0-9/])');
        exit when coalesce(v_place, 0) = 0;
        if left(v_text, v_place - 1) !~* v_intro then
            return left(v_text, v_place - 1) || ' .';
        end if;
        v_text := overlay(v_text placing '.' from v_place for 1);
    end loop;
    return v_text;
end;
$function$;

comment on function recall._unquoted_text(text) is
    'The user''s own words in a message of the user; in doubt fewer.';
