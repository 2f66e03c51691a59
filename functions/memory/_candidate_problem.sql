-- Describe what recall._judge_candidate finds wrong, with path and value.
create or replace function recall._candidate_problem(
    p_candidate      jsonb,
    p_ordinal        integer,
    p_keys           text[],
    p_kinds          text[],
    p_max_characters integer
)
returns text
language plpgsql
stable
parallel safe
set search_path from current
as $function$
declare
    v_problem text := recall._judge_candidate(p_candidate, p_keys, p_kinds, p_max_characters);
begin
    if v_problem = ' has an unknown key' then
        select format('.%s is no key', left(min(k.key), 80))
          into v_problem
          from jsonb_object_keys(p_candidate - p_keys) as k (key);
    end if;
    return concat(format('[%s]%s', p_ordinal - 1, v_problem),
                  ' is ' || left((p_candidate -> ltrim(v_problem, '.'))::text, 80));
end;
$function$;

comment on function recall._candidate_problem(jsonb, integer, text[], text[], integer) is
    'Return the first problem of a candidate, with path and value, or NULL.';
