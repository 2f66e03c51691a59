-- recall._turns_provenance(candidate, roles, all_roles) -> whose word an extracted candidate is
-- Trust follows from who spoke in the turns that it comes of, the least trusted of them: with a
-- tool among them it is a tool's word, without the user it is inferred. A model that names no turn
-- is taken at its word unless it has read a tool's answer. What a model claims can only be less.
create or replace function recall._turns_provenance(
    p_candidate jsonb,
    p_roles     text[],
    p_all_roles text[]
)
returns text
language plpgsql
immutable
parallel safe
set search_path from current
as $function$
declare
    v_claimed text := coalesce(p_candidate ->> 'provenance', case
        when p_candidate -> 'correction' = 'true' then 'correction'
        when p_candidate ->> 'kind' in ('preference', 'instruction') then p_candidate ->> 'kind'
        when p_candidate ->> 'kind' = 'episode' then 'system_inferred'
        else 'user_stated'
    end);
    v_least   text := coalesce(recall._least_trusted(p_roles)::text, case
        when p_roles is null and p_all_roles && '{tool,function}'::text[] then 'system_inferred'
    end);
begin
    -- A word that is no provenance is judged with the rest of the candidate.
    if v_claimed <> all (enum_range(null::recall.provenance)::text[]) then
        return v_claimed;
    end if;
    return greatest(v_claimed::recall.provenance, v_least::recall.provenance);
end;
$function$;

comment on function recall._turns_provenance(jsonb, text[], text[]) is
    'Provenance of an extracted candidate by who spoke in its turns.';
