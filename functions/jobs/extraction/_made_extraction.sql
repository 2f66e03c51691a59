-- Convert a model's facts and episodes to the candidates of an extraction's result.
-- A fact is left out when it is empty or cites turns of which none is the user's.
create or replace function recall._made_extraction(
    p_said jsonb,
    p_keep jsonb
)
returns jsonb
language plpgsql
immutable
parallel safe
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    -- Small models tend to begin with "User" and then stop.
    v_nothing constant text collate pg_c_utf8 :=
        '^[^[:alnum:]]*(the[^[:alnum:]]+)?(user)?[^[:alnum:]]*$';
    v_facts    jsonb;
    v_episodes jsonb;
begin
    select coalesce(jsonb_agg(jsonb_build_object(
                       'content', f.content,
                       'kind', f.fact -> 'kind',
                       'importance', least(1, greatest(0, (f.fact ->> 'importance')::numeric)),
                       'confidence', f.fact -> 'confidence',
                       'tags', recall._clean_tags(f.fact -> 'tags'),
                       'turns', f.turns)
                       || case when f.slot <> '' then jsonb_build_object('slot', f.slot)
                               else jsonb '{}' end
                       || case when f.fact -> 'correction' = 'true'
                               then jsonb '{"correction": true}' else jsonb '{}' end
                       order by f.place), '[]')
      into v_facts
      from (
            select e.fact, e.place, t.turns, t.content,
                   case when recall._is_sealed(e.fact ->> 'slot') then e.fact ->> 'slot'
                        else btrim(regexp_replace(
                            lower(recall._clean_line(e.fact ->> 'slot', 60) collate pg_c_utf8),
                            '[^[:alnum:]_]+', '_', 'g'), '_') end as slot
              from jsonb_array_elements(p_said -> 'facts') with ordinality as e (fact, place)
             cross join lateral (
                    select recall._known_turns(e.fact -> 'turns', p_keep -> 'turns'),
                           recall._clean_line(e.fact ->> 'content', 500)
                    offset 0  -- prevents subquery pull-up, which would compute both repeatedly
                   ) as t (turns, content)
             where t.content !~* v_nothing
               and (t.turns = '[]' or exists (
                       select from jsonb_array_elements(t.turns) as n (turn)
                        where p_keep -> 'user_turns' @> n.turn))
             order by e.place
             limit (p_keep ->> 'facts')::integer
           ) as f;

    select coalesce(jsonb_agg(jsonb_build_object('content', e.content, 'turns', e.turns)
                              order by e.place), '[]')
      into v_episodes
      from (
            select e.place, recall._clean_line(e.episode ->> 'content', 500) as content,
                   recall._known_turns(e.episode -> 'turns', p_keep -> 'turns') as turns
              from jsonb_array_elements(p_said -> 'episodes') with ordinality as e (episode, place)
             where recall._clean_line(e.episode ->> 'content', 500) !~* v_nothing
             order by e.place
             limit jsonb_array_length(p_keep -> 'user_turns')
           ) as e;

    return jsonb_build_object(
        'from_turn', p_keep -> 'from_turn', 'through_turn', p_keep -> 'through_turn',
        'candidates', v_facts, 'episodes', v_episodes, 'decisions', jsonb '[]');
end;
$function$;

comment on function recall._made_extraction(jsonb, jsonb) is
    'A model''s facts and episodes as the candidates of an extraction''s result.';
