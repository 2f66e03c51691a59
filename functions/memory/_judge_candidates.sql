-- recall._judge_candidates(candidates, keys, kinds, max_characters) -> first problem, or NULL
create or replace function recall._judge_candidates(
    p_candidates     jsonb,
    p_keys           text[],
    p_kinds          text[],
    p_max_characters integer
)
returns text
language sql
stable
parallel safe
return (
    select format('[%s]%s', e.ordinal - 1, p.problem)
      from jsonb_array_elements(p_candidates) with ordinality as e (candidate, ordinal)
     cross join lateral (
            select case
                when jsonb_typeof(e.candidate) <> 'object' then ' is not an object'
                when 'decision' = any(p_keys) and coalesce(e.candidate ->> 'decision', '') = ''
                    then '.decision is missing'
                when e.candidate ->> 'decision' in ('UPDATE', 'DELETE')
                     and e.candidate ->> 'target_id' is null
                    then '.target_id is missing'
                when e.candidate ->> 'content' is null
                     and coalesce(e.candidate ->> 'decision', 'ADD') not in ('DELETE', 'NONE')
                    then '.content is missing'
                else coalesce(
                    '.' || recall._judge_candidate_fields(e.candidate, p_keys, p_kinds,
                                                          p_max_characters),
                    case when (e.candidate ->> 'valid_to')::timestamptz
                              < (e.candidate ->> 'valid_from')::timestamptz
                         then '.valid_to is before valid_from' end)
            end
           ) as p (problem)
     where p.problem is not null
     order by e.ordinal
     limit 1
);

comment on function recall._judge_candidates(jsonb, text[], text[], integer) is
    'First thing wrong with a list of candidates or decisions; NULL when all is well.';
