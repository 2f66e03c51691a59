-- Return the utility by which use earns a tier; NULL without accesses.
-- Mean relevance · log2(1 + accesses) / (1 + λ · age in hours). It falls with age and rises only
-- with an access.
create or replace function recall._utility(
    p_memory recall.memory_store,
    p_at     timestamptz,
    p_decay  double precision
)
returns double precision
language sql
immutable
parallel safe
as $function$
    select (p_memory).relevance_accumulator::double precision / nullif((p_memory).access_count, 0)
           * (ln(1 + (p_memory).access_count::double precision) / ln(2::double precision))
           / (1 + p_decay * greatest(0, extract(epoch from p_at - (p_memory).created_at)
                                        ::double precision / 3600));
$function$;

comment on function recall._utility(recall.memory_store, timestamptz, double precision) is
    'Utility of a memory at a time, by its accesses and age; NULL when it was never accessed.';
