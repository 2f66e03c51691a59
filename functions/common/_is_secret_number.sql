-- recall._is_secret_number(class, text) -> do its check digits hold?
-- Cards: a known issuer, its length, and Luhn's sum. IBANs: ISO 7064, 97-10. What has no check
-- digits is always one.
create or replace function recall._is_secret_number(
    p_class text,
    p_text  text
)
returns boolean
language plpgsql
immutable
parallel safe
set search_path from current
as $function$
declare
    v_text text    := translate(p_text, ' -', '');
    v_sum  integer := 0;
    v_rest integer := 0;
    v_one  text;
    v_digits bytea;
begin
    if p_class = 'card' then
        if v_text !~ (
                     case length(v_text)
                         when 13 then '^4'
                         when 14 then '^3[068]'
                         when 15 then '^3[47]'
                         when 16 then '^(4|5[1-5]|2[2-7]|35|6(011|5|4[4-9]|2))'
                         when 17 then '^62'
                         when 18 then '^62'
                         when 19 then '^(4|62)'
                         else '^x'
                     end) then
            return false;
        end if;
        -- A loop over digits takes a fifth of the time of a sum over generate_series.
        v_digits := convert_to(reverse(v_text), 'UTF8');
        for v_place in 0 .. length(v_digits) - 1 loop
            v_rest := get_byte(v_digits, v_place) - 48;
            v_sum  := v_sum + case when v_place % 2 = 0 then v_rest
                                   else v_rest * 2 - v_rest / 5 * 9 end;
        end loop;
        return v_sum % 10 = 0;
    elsif p_class = 'iban' then
        foreach v_one in array
            regexp_split_to_array(substr(v_text, 5) || left(v_text, 4), '') loop
            v_rest := case when v_one ~ '\d' then (v_rest * 10 + v_one::integer) % 97
                           else (v_rest * 100 + ascii(v_one) - 55) % 97 end;
        end loop;
        return v_rest = 1;
    end if;
    return true;
end;
$function$;

comment on function recall._is_secret_number(text, text) is
    'Whether a number is a card''s or an account''s by its check digits.';
