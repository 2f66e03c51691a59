-- List all prompts, shipped and own ones with their earlier versions, those in use first.
create or replace function recall.list_prompts()
returns table (
    name               text,
    language           text,
    version            text,
    is_current         boolean,
    is_shipped         boolean,
    token_count        integer,
    schema_token_count integer,
    checksum           text,
    created_at         timestamptz,
    content            text,
    schema             jsonb
)
language plpgsql
stable
parallel safe
security definer
set search_path to pg_catalog, recall, pg_temp
as $function$
begin
    return query
    select p.name, p.language, p.version, p.is_current, p.is_shipped, p.token_count,
           p.schema_token_count, encode(p.checksum, 'hex'), p.created_at, p.content, p.schema
      from recall.prompts as p
     order by p.name, p.language, p.is_current desc, p.created_at desc, p.version;
end;
$function$;

comment on function recall.list_prompts() is
    'Prompts of the steps, those in use first: text, schema, tokens, SHA-256 (hex) of both.';
