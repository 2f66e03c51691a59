-- Convert a model's merges to texts with the ids of their parts, and judge them by words.
-- A merge has a text and at least two of the memories shown, and no memory is in two merges. Open
-- merges need the second question, and so does every merge of an encrypted user, whose worker
-- empties unfaithful texts. The others are accepted or refused. A merge with a part that has ended
-- meanwhile is left out. The parts are compared as the model saw them, neutralized.
create or replace function recall._made_merges(
    p_merges    jsonb,
    p_keep      jsonb,
    p_memories  jsonb,
    p_is_sealed boolean,
    out o_made    jsonb,
    out o_problem text
)
language plpgsql
immutable
parallel safe
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_shown constant integer := jsonb_array_length(p_keep -> 'memories');
begin
    select case
               when not p_is_sealed and bool_or(m.content = '')
                   then 'content of a merge is empty'
               when min(m.parts) < 2 then 'a merge of fewer than two memories'
               when min(m.least) < 1 or max(m.most) > v_shown
                   then format('there are no memories but 1 to %s', v_shown)
               when sum(m.parts) > (
                   select count(distinct p.part)
                     from jsonb_path_query(p_merges, '$[*].parts[*]') as p (part))
                   then 'a memory in two merges'
           end
      into o_problem
      from (
            select min(e.merge ->> 'content') as content, count(distinct p.part) as parts,
                   min(p.part::integer) as least,
                   max(p.part::integer) as most
              from jsonb_array_elements(p_merges) with ordinality as e (merge, place)
              left join lateral jsonb_array_elements(e.merge -> 'parts') as p (part) on true
             group by e.place
           ) as m;
    if o_problem is not null then
        return;
    end if;

    select jsonb_build_object(
               'merges', coalesce(jsonb_agg(m.merge order by m.place)
                                      filter (where v.o_verdict = 'faithful'), '[]'),
               'open', coalesce(jsonb_agg(m.merge order by m.place)
                                    filter (where v.o_verdict = 'unsure'), '[]'),
               'refused', coalesce(jsonb_agg(m.merge || jsonb_build_object('words', v.o_words)
                                             order by m.place)
                                       filter (where v.o_verdict = 'unfaithful'), '[]'))
      into o_made
      from (
            select e.place, jsonb_build_object(
                       'content', recall._clean_line(e.merge ->> 'content',
                                                     (p_keep ->> 'characters')::integer),
                       'memory_ids', (
                           select jsonb_agg(p_keep #> array['memories', (p.part - 1)::text]
                                            order by p.part)
                             from (select distinct q.part::integer
                                     from jsonb_array_elements_text(e.merge -> 'parts') as q (part)
                                  ) as p (part))) as merge
              from jsonb_array_elements(p_merges) with ordinality as e (merge, place)
            offset 0  -- prevents subquery pull-up, which would compute it repeatedly
           ) as m
     cross join lateral (
            select array(
                       select recall._prompt_text(e.memory ->> 'content')
                         from jsonb_array_elements(p_memories) as e (memory)
                        where m.merge -> 'memory_ids' @> (e.memory -> 'memory_id'))
           ) as p (parts)
     cross join lateral recall._judge_merge(
               p.parts, recall._prompt_text(m.merge ->> 'content')) as v
     where cardinality(p.parts) = jsonb_array_length(m.merge -> 'memory_ids');
end;
$function$;

comment on function recall._made_merges(jsonb, jsonb, jsonb, boolean) is
    'A model''s merges, judged by words: accepted, open and refused ones; or what is wrong with '
    'them.';
