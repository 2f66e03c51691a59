-- Rate how well packed memories use a budget, from 0 to 1; NULL when all of them fit.
-- η = (score selected ÷ score of the best packing) × filled share of the budget. The best packing
-- is bounded from above, by density with a partial last memory, so the true η may be higher, never
-- lower. Only memories left out for their tokens are candidates.
create or replace function recall._packing_efficiency(
    p_memories recall.context_candidate[],
    p_budget   bigint
)
returns double precision
language sql
immutable
parallel safe
as $function$
    select least(1, coalesce(sum(d.score) filter (where d.taken), 0)
                    / nullif(sum(d.score * least(1, greatest(0, p_budget - d.before)::float8
                                                    / greatest(d.token_count, 1))), 0))
           * coalesce(sum(d.token_count) filter (where d.taken), 0)::float8
           / nullif(greatest(p_budget, 0), 0)
      from (
            select (m.found).score, m.token_count, m.taken,
                   sum(m.token_count) over (
                       order by (m.found).score / greatest(m.token_count, 1) desc,
                                (m.found).memory_id
                       rows unbounded preceding) - m.token_count as before
              from unnest(p_memories) as m
             where m.taken or m.reason like '% left'
           ) as d
    having bool_or(not d.taken);
$function$;

comment on function recall._packing_efficiency(recall.context_candidate[], bigint) is
    'How well a budget was used by the memories that were packed into it.';
