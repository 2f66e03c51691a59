-- Return the numbers of a text, each once, or NULL if another text may spell one of them otherwise.
-- Number words, "7 pm", "9:00" and "1,200" have other spellings. Cost: 15 µs for 400 characters.
create or replace function recall._plain_numbers(
    p_text text
)
returns text[]
language plpgsql
immutable
parallel safe
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_text text collate pg_c_utf8 := normalize(p_text, nfkc);
begin
    if v_text !~ '\d' then
        return '{}'::text[];
    end if;
    if v_text ~* ('\m(zero|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)\M'
                  '|\d ?p\.?m|:00|\d[,. ]\d{3}') then
        return null;
    end if;
    return array(select distinct n.number[1]
                   from regexp_matches(v_text, '\d+', 'g') as n (number));
end;
$function$;

comment on function recall._plain_numbers(text) is
    'Numbers of a text, each once; NULL if one may have another spelling.';
