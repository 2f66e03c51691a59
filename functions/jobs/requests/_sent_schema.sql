-- Return a schema for an endpoint, without the keys that the endpoint does not accept.
-- Only objects are descended into: lists in a schema (type, enum, required) hold strings.
create or replace function recall._sent_schema(
    p_schema jsonb,
    p_keys   text[]
)
returns jsonb
language plpgsql
immutable
parallel safe
set search_path to pg_catalog, recall, pg_temp
as $function$
begin
    if not exists (
        select from unnest(p_keys) as k (key) where strpos(p_schema::text, '"' || k.key || '"') > 0
    ) then
        return p_schema;
    end if;
    return (
        select coalesce(jsonb_object_agg(
                   e.key, case when jsonb_typeof(e.value) = 'object'
                               then recall._sent_schema(e.value, p_keys) else e.value end), '{}')
          from jsonb_each(p_schema - p_keys) as e);
end;
$function$;

comment on function recall._sent_schema(jsonb, text[]) is
    'A JSON schema without some keys, at any depth.';
