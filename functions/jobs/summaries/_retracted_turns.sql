-- Return the retracted turns between two turns as the text of a multirange.
-- A compaction's input and result carry it, so that a turn retracted in between cannot survive in
-- a summary.
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
