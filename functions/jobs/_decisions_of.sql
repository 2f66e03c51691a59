-- Return candidates with their decisions, in the candidates' order, for apply_decisions.
-- A candidate that the model was not asked about gets ADD.
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
begin
    return (
        select coalesce(jsonb_agg(
                   c.candidate
                   || case when d.decision is null then '{"decision": "ADD"}'
                           else jsonb_strip_nulls(jsonb_build_object(
                                    'decision', d.decision -> 'decision',
                                    'target_id', d.decision -> 'target_id')) end
                   order by c.ordinal), '[]')
          from jsonb_array_elements(p_candidates) with ordinality as c (candidate, ordinal)
          left join jsonb_array_elements(p_decisions) as d (decision)
            on d.decision ->> 'ordinal' = c.ordinal::text);
end;
$function$;

comment on function recall._decisions_of(jsonb, jsonb) is
    'Candidates with the decisions about them, in their order; ADD where there is none.';
