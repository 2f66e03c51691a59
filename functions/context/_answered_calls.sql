-- Keep the calls of a message that have an answer.
-- p_open holds the ids of tool messages whose call was not read yet; a call removes its own. o_left
-- lists the calls without an answer.
create or replace function recall._answered_calls(
    p_calls     jsonb,
    p_open      text[],
    p_turn      integer,
    out o_calls jsonb,
    out o_open  text[],
    out o_left  jsonb
)
language plpgsql
immutable
parallel safe
set search_path to pg_catalog, recall, pg_temp
set plan_cache_mode = force_generic_plan
as $function$
declare
    v_ids constant text[] := array(
        select c.call ->> 'id' from jsonb_array_elements(p_calls) as c (call));
begin
    if v_ids <@ coalesce(p_open, '{}') then
        o_calls := p_calls;
        o_left  := '[]';
    else
        o_left := jsonb_build_object(
            'from_turn', p_turn, 'to_turn', p_turn, 'reason', 'unanswered',
            'tool_call_ids', array(select i.id from unnest(v_ids) as i (id)
                                    where array_position(p_open, i.id) is null));
        select jsonb_agg(c.call order by c.ordinal)
          into o_calls
          from jsonb_array_elements(p_calls) with ordinality as c (call, ordinal)
         where c.call ->> 'id' = any (p_open);
    end if;
    o_open := nullif(array(select o.id from unnest(p_open) as o (id) where o.id <> all (v_ids)),
                     '{}');
end;
$function$;

comment on function recall._answered_calls(jsonb, text[], integer) is
    'Calls of a message that have an answer, the answers that still lack a call, and calls '
    'without an answer.';
