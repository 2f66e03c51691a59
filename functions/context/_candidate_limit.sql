-- Return how many candidate memories a context searches for.
-- A small budget needs only as many as could fit, at 25 tokens a line (12 in format bullets). 15
-- more replace those that are too long or repeated. With 600 tokens, all 90 candidates filled 0.1 %
-- more for memories of 10 to 20 words, and 1 % more for up to 60. Packing by density gets all,
-- since the best one need not be the densest.
create or replace function recall._candidate_limit(
    p_room     bigint,
    p_options  jsonb,
    p_settings recall.settings
)
returns integer
language sql
immutable
parallel safe
as $function$
    select least(
        p_settings.semantic_candidates + p_settings.lexical_candidates
        + p_settings.frequent_candidates,
        case when p_options ->> 'pack' is distinct from 'density' then 15 + least(
            greatest(0, p_room) / case when p_options ->> 'format' = 'bullets' then 12 else 25 end,
            (p_options ->> 'max_memories')::bigint) end);
$function$;

comment on function recall._candidate_limit(bigint, jsonb, recall.settings) is
    'How many memories a context with selection hybrid searches for.';
