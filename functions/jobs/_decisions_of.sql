-- recall._decisions_of(candidates, decisions) -> for apply_decisions, in the candidates' order
-- A candidate that nobody was asked about is an ADD.
-- Raises  RC003 a decision about no candidate, or two about one.
create or replace function recall._decisions_of(
    p_candidates jsonb,
    p_decisions  jsonb
)
returns jsonb
language plpgsql
immutable
parallel safe
set search_path from current
as $function$
declare
    v_decisions jsonb := coalesce(nullif(p_decisions, 'null'), '[]');
begin
    if jsonb_typeof(v_decisions) <> 'array' or exists (
        select
          from jsonb_array_elements(v_decisions) as d (decision)
         group by recall._integer(d.decision, 'ordinal')
        having count(*) > 1
            or coalesce(recall._integer(max(d.decision::text)::jsonb, 'ordinal'), 0)
               not between 1 and jsonb_array_length(p_candidates)
    ) then
        raise exception using
            errcode = 'RC003',
            message = 'decisions is not a list of one decision a candidate at most',
            hint    = 'Each has ordinal (1 to the number of candidates), decision and target_id.';
    end if;

    return (
        select coalesce(jsonb_agg(
                   c.candidate
                   || case when d.decision is null then '{"decision": "ADD"}'
                           else jsonb_strip_nulls(jsonb_build_object(
                                    'decision', d.decision -> 'decision',
                                    'target_id', d.decision -> 'target_id')) end
                   order by c.ordinal), '[]')
          from jsonb_array_elements(p_candidates) with ordinality as c (candidate, ordinal)
          left join jsonb_array_elements(v_decisions) as d (decision)
            on d.decision ->> 'ordinal' = c.ordinal::text);
end;
$function$;

comment on function recall._decisions_of(jsonb, jsonb) is
    'Candidates with the decisions about them; ADD where there is none.';
