-- recall._retracted_turns(session, from_turn, to_turn) -> those among them, as text
-- Goes out with a compaction's input and comes back with its result: a turn that was taken back
-- meanwhile must not live on in a summary.
create or replace function recall._retracted_turns(
    p_session   recall.sessions,
    p_from_turn integer,
    p_to_turn   integer
)
returns text
language sql
immutable
parallel safe
as $function$
    select case
        when p_to_turn >= p_from_turn
            then (p_session.retracted_turns
                  * int4multirange(int4range(p_from_turn, p_to_turn, '[]')))::text
        else '{}'
    end;
$function$;

comment on function recall._retracted_turns(recall.sessions, integer, integer) is
    'Retracted turns within a range, as the text of a multirange.';
