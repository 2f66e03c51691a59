-- Tell whether the check digits of a number are valid for its class.
-- Cards need a known issuer, its length and a valid Luhn sum; IBANs ISO 7064, 97-10. Classes
-- without check digits always pass.
create or replace function recall._is_secret_number(
    p_class text,
    p_text  text
)
returns boolean
language plpgsql
immutable
parallel safe
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    -- Value of a digit at an even position from the right, and at an odd one.
    v_values constant bytea := '\x0001020304050607080900020406080103050709'::bytea;
    v_text   text    := translate(p_text, ' -', '');
    v_sum    integer := 0;
    v_one    text;
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
        -- A loop takes a fifth of the time of a sum over generate_series.
        v_digits := convert_to(reverse(v_text), 'UTF8');
        for v_place in 0 .. length(v_digits) - 1 loop
            v_sum := v_sum
                + get_byte(v_values, v_place % 2 * 10 + get_byte(v_digits, v_place) - 48);
        end loop;
        return v_sum % 10 = 0;
    elsif p_class = 'iban' then
        -- A letter counts as two digits, A as 10.
        v_text := substr(v_text, 5) || left(v_text, 4);
        loop
            v_one  := substring(v_text from '[A-Z]');
            exit when v_one is null;
            v_text := replace(v_text, v_one, (ascii(v_one) - 55)::text);
        end loop;
        return v_text::numeric % 97 = 1;
    end if;
    return true;
end;
$function$;

comment on function recall._is_secret_number(text, text) is
    'Whether a number has valid check digits of its class (card, IBAN).';
