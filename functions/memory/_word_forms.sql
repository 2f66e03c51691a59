-- recall._word_forms(text) -> its words in order: form, spelling, is_first of a sentence
-- The form is lower case without quotes, brackets and 's; a negation is "not", two is 2.
create or replace function recall._word_forms(
    p_text text
)
returns table (
    form     text,
    spelling text,
    is_first boolean
)
language plpgsql
immutable
parallel safe
set search_path from current
as $function$
declare
    v_numbers  constant text[] := string_to_array(
        'two three four five six seven eight nine ten eleven twelve', ' ');
    v_negators constant text[] := string_to_array(
        'no not non none never neither nor nobody nothing nowhere without cannot cant dont doesnt '
        'didnt isnt arent wasnt werent wont nicht kein keine keinen nie niemals ohne niet geen '
        'nooit zonder ne pas jamais sans aucun aucune nunca jamás sin tampoco não nem sem mai '
        'senza bez nigdy inte aldrig utan değil yok не нет никогда без', ' ');
    v_raw      text collate pg_c_utf8;
begin
    is_first := true;
    foreach v_raw in array regexp_split_to_array(
        translate(normalize(p_text, nfkc), '’‘', ''''''), '[\s/]+')
    loop
        spelling := regexp_replace(
            v_raw, '^[^[:alnum:]+#-]+|(''s)?[^[:alnum:]+#%]*$', '', 'g');
        continue when spelling = '';
        form := lower(spelling collate pg_c_utf8);
        form := case
            when form = any (v_negators) or form like '%n''t' then 'not'
            when form = any (v_numbers) then (array_position(v_numbers, form) + 1)::text
            else form
        end;
        return next;
        is_first := v_raw ~ '[.!?:;]["'')\]»”]*$';
    end loop;
end;
$function$;

comment on function recall._word_forms(text) is
    'Words of a text as the guard of merges compares them.';
