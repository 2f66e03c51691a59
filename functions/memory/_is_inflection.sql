-- Tell whether two stems differ by no more than an inflection: arbeitet and arbeiten.
create or replace function recall._is_inflection(
    p_one   text,
    p_other text
)
returns boolean
language plpgsql
immutable
parallel safe
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_endings constant text :=
        '^(|s|e|es|en|n|t|et|st|te|ten|em|ern|as|os|an|am|ar|ir'
        '|ет|ит|ют|ят|а|у|ы|и|е|ом|ой|ть)$';
    v_same    integer := 0;
begin
    while v_same < least(length(p_one), length(p_other))
          and substr(p_one, v_same + 1, 1) = substr(p_other, v_same + 1, 1) loop
        v_same := v_same + 1;
    end loop;
    return v_same > 3
       and substr(p_one, v_same + 1) ~ v_endings
       and substr(p_other, v_same + 1) ~ v_endings;
end;
$function$;

comment on function recall._is_inflection(text, text) is
    'Whether two stems differ by no more than an inflection.';
