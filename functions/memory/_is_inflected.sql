-- Tell whether two words are forms of one: live and lives, vivo and vive, allergy and allergic.
-- A name has no other form but the one with an "s", a number none at all.
create or replace function recall._is_inflected(
    p_word    text,
    p_other   text,
    p_is_name boolean
)
returns boolean
language plpgsql
immutable
parallel safe
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_same integer := 0;
    v_ends text[];
begin
    while v_same < least(length(p_word), length(p_other))
          and substr(p_word, v_same + 1, 1) = substr(p_other, v_same + 1, 1) loop
        v_same := v_same + 1;
    end loop;
    v_ends := array[substr(p_word, v_same + 1), substr(p_other, v_same + 1)];
    if p_is_name or p_word ~ '\d' then
        return v_same > 2 and p_word !~ '\d' and v_ends <@ '{"",s}'::text[];
    end if;
    return v_same > 2 and v_ends <@ '{"",s,es,e,o,a,i}'::text[]
        or v_same > 3 and length(v_ends[1]) < 4 and length(v_ends[2]) < 4
        or v_same > 1 and p_word ~ '^[가-힣]' and length(v_ends[1]) < 3 and length(v_ends[2]) < 3;
end;
$function$;

comment on function recall._is_inflected(text, text, boolean) is
    'Whether two lower-case words are forms of one word.';
