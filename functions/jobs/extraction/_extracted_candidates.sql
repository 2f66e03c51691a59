-- Convert a model's candidates into those of recall.ingest_memories.
-- Turn indexes become message ids and times; an index outside the turns that were read is ignored.
-- The roles of the cited turns cap what a candidate claims (recall._credited_candidate).
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
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_turns      jsonb := recall._turns_json(p_session, p_from_turn + 1, p_through_turn);
    v_uncited    text[];
    v_candidates jsonb;
begin
    -- A candidate without cited turns may come from any turn: the least trusted role counts.
    select array[case
               when count(*) = 0 or bool_or(v.turn ->> 'role' = 'assistant') then 'assistant'
               when bool_or(v.turn ->> 'role' <> 'user') then 'tool'
               else 'user'
           end]
      into v_uncited
      from jsonb_array_elements(v_turns) as v (turn);

    select coalesce(jsonb_agg(
               recall._credited_candidate(
                   jsonb_build_object(
                       'observed_at', coalesce(t.said_at, to_jsonb(p_session.last_message_at)))
                   || (c.candidate - '{turns,correction}'::text[])
                   || jsonb_build_object(
                       'source_turn_ids', t.message_ids,
                       'source', case when c.candidate ->> 'source' in ('tool', 'inference')
                                      then c.candidate ->> 'source' else 'conversation' end,
                       'provenance', recall._claimed_provenance(c.candidate, r.roles)),
                   r.roles)
               order by c.ordinal), '[]')
      into v_candidates
      from jsonb_array_elements(p_candidates) with ordinality as c (candidate, ordinal)
     cross join lateral (
            select coalesce(jsonb_agg(v.turn -> 'message_id' order by v.ordinal), '[]'),
                   (array_agg(v.turn -> 'created_at' order by v.ordinal desc))[1],
                   min(v.ordinal), max(v.ordinal)
              from jsonb_array_elements(v_turns) with ordinality as v (turn, ordinal)
             where coalesce(c.candidate -> 'turns', '[]') @> (v.turn -> 'turn_index')
           ) as t (message_ids, said_at, first_place, last_place)
     cross join lateral (
            -- An episode cites the first and last turn of an exchange; the turns between count too.
            select coalesce(array_agg(v.turn ->> 'role'), v_uncited)
              from jsonb_array_elements(v_turns) with ordinality as v (turn, ordinal)
             where case when c.candidate ->> 'kind' = 'episode'
                        then v.ordinal between t.first_place and t.last_place
                        else coalesce(c.candidate -> 'turns', '[]') @> (v.turn -> 'turn_index') end
           ) as r (roles);
    return v_candidates;
end;
$function$;

comment on function recall._extracted_candidates(recall.sessions, integer, integer, jsonb) is
    'A model''s candidates in the form of ingest_memories: turn indexes become message ids and '
    'times.';
