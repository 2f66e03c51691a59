-- recall._extracted_candidates(session, from_turn, through_turn, candidates) -> for the memory room
-- What a model names by turn gets the turns' message ids and the time it was said; its kind and
-- whether it corrects something give the provenance; but where the turns are not the user's, it is
-- the word of whoever spoke there, whatever the model claims: see _turns_provenance. A turn outside
-- of what was read names nothing.
-- Raises  RC003.
create or replace function recall._extracted_candidates(
    p_session      recall.sessions,
    p_from_turn    integer,
    p_through_turn integer,
    p_candidates   jsonb
)
returns jsonb
language plpgsql
stable
parallel safe
set search_path from current
as $function$
declare
    v_turns      jsonb := recall._turns_json(p_session, p_from_turn + 1, p_through_turn);
    v_roles      text[] := array(
        select distinct v.turn ->> 'role' from jsonb_array_elements(v_turns) as v (turn));
    v_candidates jsonb;
begin
    if jsonb_typeof(p_candidates) <> 'array' or exists (
        select from jsonb_array_elements(p_candidates) as c (candidate)
         where jsonb_typeof(c.candidate) <> 'object'
            or jsonb_typeof(coalesce(c.candidate -> 'turns', '[]')) <> 'array'
    ) then
        raise exception using
            errcode = 'RC003',
            message = 'candidates is not a list of objects',
            hint    = 'Each has content, kind, importance, confidence, tags, slot, correction, '
                      'and turns: a list of turn indexes.';
    end if;

    select coalesce(jsonb_agg(
               jsonb_build_object(
                   'observed_at', coalesce(t.said_at, to_jsonb(p_session.last_message_at)),
                   'source_turn_ids', t.message_ids)
               || (c.candidate - '{turns,correction}'::text[])
               || jsonb_build_object(
                   'source', case when c.candidate ->> 'source' in ('tool', 'inference')
                                  then c.candidate ->> 'source' else 'conversation' end,
                   'provenance', recall._turns_provenance(c.candidate, t.roles, v_roles))
               order by c.ordinal), '[]')
      into v_candidates
      from jsonb_array_elements(p_candidates) with ordinality as c (candidate, ordinal)
     cross join lateral (
            select coalesce(jsonb_agg(v.turn -> 'message_id' order by v.ordinal), '[]'),
                   (array_agg(v.turn -> 'created_at' order by v.ordinal desc))[1],
                   array_agg(v.turn ->> 'role')
              from jsonb_array_elements(v_turns) with ordinality as v (turn, ordinal)
             where coalesce(c.candidate -> 'turns', '[]') @> (v.turn -> 'turn_index')
           ) as t (message_ids, said_at, roles);
    return v_candidates;
end;
$function$;

comment on function recall._extracted_candidates(recall.sessions, integer, integer, jsonb) is
    'Candidates of a model as candidates of ingest_memories: turns become message ids and times.';
