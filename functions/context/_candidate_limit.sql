-- recall._candidate_limit(room, options, settings) -> candidates of a context that are searched for
-- In a small room no more than could stand in it, at 25 tokens a line (12 in format bullets), and
-- 15 for those that are too long or said already. Of 600 tokens all 90 candidates filled 0.1 % more
-- with memories of 10 to 20 words, 1 % more with some of up to 60. Packed by density all of them
-- stand to choose from, since the best need not be the densest.
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
    'How many memories a context in selection hybrid looks at.';
