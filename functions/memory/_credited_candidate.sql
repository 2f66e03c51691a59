-- Limit a candidate's claims by the roles that spoke in the turns it comes from.
-- With a tool among them it is output of a tool; without the user it is an inference. A lower claim
-- stays. Only a user's own message stays verbatim. NULL roles (no known turn is cited) change
-- nothing.
create or replace function recall._credited_candidate(
    p_candidate jsonb,
    p_roles     text[]
)
returns jsonb
language plpgsql
immutable
parallel safe
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_claimed text              := p_candidate ->> 'provenance';
    v_least   recall.provenance := recall._least_trusted(p_roles);
begin
    if p_candidate #> '{metadata,verbatim}' = 'true' and not p_roles <@ '{user}'::text[] then
        p_candidate := p_candidate #- '{metadata,verbatim}';
    end if;
    -- recall._check_candidates rejects an invalid provenance.
    if v_claimed <> all (enum_range(null::recall.provenance)::text[]) then
        return p_candidate;
    end if;
    if v_least is not null then
        p_candidate := p_candidate || jsonb_build_object(
            'provenance', greatest(v_claimed::recall.provenance, v_least),
            'source', case when v_least = 'tool_output' or p_candidate ->> 'source' = 'tool'
                           then 'tool' else 'inference' end);
    end if;
    return p_candidate;
end;
$function$;

comment on function recall._credited_candidate(jsonb, text[]) is
    'A candidate with provenance, source and verbatim mark limited by the roles in its turns.';
