-- Resolve a model's decisions to ordinals and memory ids, or return the problem with them.
-- Each candidate has one decision, and a target is one of the memories listed below it. For a
-- candidate that SQL settles any decision but ACHIEVE becomes ADD, so that no answer loses it.
create or replace function recall._made_decisions(
    p_decisions jsonb,
    p_open      jsonb,
    out o_decisions jsonb,
    out o_problem   text
)
language plpgsql
immutable
parallel safe
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_said record;
    v_open jsonb;
    v_count constant integer := jsonb_array_length(p_open);
begin
    o_decisions := '[]';
    if array(select (d.item ->> 'candidate')::integer
               from jsonb_array_elements(p_decisions) as d (item)
              order by 1) <> array(select generate_series(1, v_count)) then
        o_problem := format('not one decision for each of the %s candidates', v_count);
        return;
    end if;
    for v_said in
        select (d.item ->> 'candidate')::integer as candidate, d.item ->> 'decision' as decision,
               (d.item ->> 'target')::integer as target
          from jsonb_array_elements(p_decisions) as d (item)
         order by 1
    loop
        v_open := p_open -> (v_said.candidate - 1);
        if v_open -> 'is_settled' = 'true' and v_said.decision <> 'ACHIEVE' then
            v_said.decision := 'ADD';
        end if;
        if v_said.decision in ('ADD', 'NONE') then
            o_decisions := o_decisions || jsonb_build_object(
                'ordinal', v_open -> 'ordinal', 'decision', v_said.decision);
        elsif coalesce(v_said.target, 0)
              not between 1 and jsonb_array_length(v_open -> 'neighbors') then
            o_problem := format('candidate %s has no memory %s', v_said.candidate,
                                coalesce(v_said.target::text, 'null'));
            return;
        else
            o_decisions := o_decisions || jsonb_build_object(
                'ordinal', v_open -> 'ordinal', 'decision', v_said.decision,
                'target_id', v_open -> 'neighbors' -> (v_said.target - 1));
        end if;
    end loop;
end;
$function$;

comment on function recall._made_decisions(jsonb, jsonb) is
    'A model''s decisions with the ids of their target memories, or the problem with them.';
