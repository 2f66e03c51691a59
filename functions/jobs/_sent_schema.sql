-- Return a schema as an endpoint gets it: without the keys that it does not take.
-- Lists in a schema (type, enum, required) hold words: only objects are looked into.
create or replace function recall._sent_schema(
    p_schema jsonb,
    p_keys   text[]
)
returns jsonb
language plpgsql
immutable
parallel safe
set search_path from current
as $function$
begin
    return (
        select coalesce(jsonb_object_agg(
                   e.key, case when jsonb_typeof(e.value) = 'object'
                               then recall._sent_schema(e.value, p_keys) else e.value end), '{}')
          from jsonb_each(p_schema - p_keys) as e);
end;
$function$;

comment on function recall._sent_schema(jsonb, text[]) is
    'A JSON schema without some keys, at any depth.';
