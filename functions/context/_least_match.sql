-- Return the least match of a memory in a context; NULL when the context takes any memory.
-- Words alone leave nothing out, since an answer may use other words than its question: it is NULL
-- where no memory has a similarity, and where the query names nothing to look for.
create or replace function recall._least_match(
    p_request recall.context_request,
    p_found   recall.found_memory[]
)
returns double precision
language plpgsql
stable
parallel safe
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_least constant double precision := (p_request.settings).context_min_match;
    v_best  double precision[];
begin
    if p_request.options ? 'min_match' then
        return (p_request.options ->> 'min_match')::double precision;
    end if;
    v_best := array(
        select m.match
          from unnest(p_found) as m
         where m.similarity is not null
         order by m.match desc
         limit 3);
    if v_best = '{}' or v_least = 0 then
        return null;
    end if;

    -- The minimum depends on the query and on the best match (benchmarks/context_precision.py):
    -- - A query without a word for its author seldom needs a memory: 1.5 times the minimum.
    -- - Any other query needs 0.4 times the minimum, and the best stays alone below 1.5 times.
    -- - Beyond the best three, or two, a memory must match half as well as the best.
    if p_request.query is not null then
        if recall._is_unspecific(p_request.query, (p_request.settings).language::regconfig) then
            return null;
        end if;
        if not recall._speaks_of_user(p_request.query) then
            return greatest(1.5 * v_least,
                            least(v_best[1] / 2, v_best[cardinality(v_best)]));
        end if;
    end if;
    if v_best[1] < 1.5 * v_least then
        return greatest(0.4 * v_least, v_best[1]);
    end if;
    return greatest(0.4 * v_least, least(v_best[1] / 2, v_best[least(2, cardinality(v_best))]));
end;
$function$;

comment on function recall._least_match(recall.context_request, recall.found_memory[]) is
    'The least match of a memory in a context; NULL when the context takes any memory.';
