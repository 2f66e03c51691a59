-- Say whether every context of a session contains the same memories.
-- These are memories known at its start and selected without the query. Their budget must not
-- depend on the turn either.
create or replace function recall._has_fixed_memories(
    p_options jsonb
)
returns boolean
language sql
immutable
parallel safe
return coalesce(p_options ->> 'memories_as_of' = 'session_start'
                and p_options ->> 'selection' in ('all', 'top'), false);

comment on function recall._has_fixed_memories(jsonb) is
    'Whether the options select memories that stay the same for a whole session.';
