-- Return the provenance that an extracted candidate claims, explicitly or by its kind.
-- An episode is a system inference, or output of a tool when a tool spoke in its turns.
create or replace function recall._claimed_provenance(
    p_candidate jsonb,
    p_roles     text[]
)
returns text
language sql
immutable
parallel safe
return coalesce(p_candidate ->> 'provenance', case
    when p_candidate -> 'correction' = 'true' then 'correction'
    when p_candidate ->> 'kind' in ('preference', 'instruction') then p_candidate ->> 'kind'
    when p_candidate ->> 'kind' = 'episode'
        then coalesce(recall._least_trusted(p_roles), 'system_inferred')::text
    else 'user_stated'
end);

comment on function recall._claimed_provenance(jsonb, text[]) is
    'Provenance that a model''s candidate claims, explicitly or by its kind.';
