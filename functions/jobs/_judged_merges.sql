-- Sort a model's proposed merges into accepted, open and refused ones by the words of their parts.
-- Open merges need the second question, and so does every merge of an encrypted user, whose worker
-- empties unfaithful texts. A merge with a part that has ended meanwhile is left out.
create or replace function recall._judged_merges(
    p_merges   jsonb,
    p_memories jsonb
)
returns jsonb
language plpgsql
immutable
parallel safe
set search_path from current
as $function$
begin
    return (
        select jsonb_build_object(
                   'merges', coalesce(jsonb_agg(m.merge order by m.place)
                                          filter (where v.o_verdict = 'faithful'), '[]'),
                   'open', coalesce(jsonb_agg(m.merge order by m.place)
                                        filter (where v.o_verdict = 'unsure'), '[]'),
                   'refused', coalesce(jsonb_agg(m.merge || jsonb_build_object('words', v.o_words)
                                                 order by m.place)
                                           filter (where v.o_verdict = 'unfaithful'), '[]'))
          from jsonb_array_elements(p_merges) with ordinality as m (merge, place)
         cross join lateral (
                select array(
                           select e.memory ->> 'content'
                             from jsonb_array_elements(p_memories) as e (memory)
                            where m.merge -> 'memory_ids' @> (e.memory -> 'memory_id'))
               ) as p (parts)
         cross join lateral recall._judge_merge(p.parts, m.merge ->> 'content') as v
         where cardinality(p.parts) = jsonb_array_length(m.merge -> 'memory_ids'));
end;
$function$;

comment on function recall._judged_merges(jsonb, jsonb) is
    'Proposed merges as {"merges", "open", "refused"}: accepted, undecided, and unfaithful ones.';
