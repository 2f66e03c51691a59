-- Return the schema of an extraction with its kinds and limits.
-- The default makes a fact of an unknown kind a plain "fact" instead of losing it.
create or replace function recall._extraction_schema(
    p_schema   jsonb,
    p_kinds    jsonb,
    p_facts    integer,
    p_episodes integer
)
returns jsonb
language sql
immutable
parallel safe
return jsonb_set(jsonb_set(jsonb_set(
    p_schema,
    '{properties,facts,items,properties,kind}',
    (select jsonb_build_object('type', 'string', 'enum', jsonb_agg(k.key order by k.key),
                               'default', coalesce(min(k.key) filter (where k.key = 'fact'),
                                                   min(k.key)))
       from jsonb_object_keys(p_kinds) as k (key))),
    '{properties,facts,maxItems}', to_jsonb(p_facts)),
    '{properties,episodes,maxItems}', to_jsonb(p_episodes));

comment on function recall._extraction_schema(jsonb, jsonb, integer, integer) is
    'Schema of an extraction with the kinds of memory and the maximum numbers of facts and '
    'episodes.';
