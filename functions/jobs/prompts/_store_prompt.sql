-- Store a version of a prompt with its checksum; one in use replaces the version in use before it.
-- An existing version keeps its time; a release never overwrites an installation's own prompt.
create or replace function recall._store_prompt(
    p_prompt recall.prompts
)
returns void
language plpgsql
volatile
parallel unsafe
set search_path to pg_catalog, recall, pg_temp
as $function$
begin
    if p_prompt.is_current then
        update recall.prompts as p
           set is_current = false
         where p.name      = p_prompt.name
           and p.language  = p_prompt.language
           and p.version  <> p_prompt.version
           and p.is_current;
    end if;
    insert into recall.prompts as p (
        name, language, version, content, schema, token_count, schema_token_count, checksum,
        is_shipped, is_current, created_at)
    values (
        p_prompt.name, p_prompt.language, p_prompt.version, p_prompt.content, p_prompt.schema,
        p_prompt.token_count, p_prompt.schema_token_count,
        recall._prompt_checksum(p_prompt.content, p_prompt.schema), p_prompt.is_shipped,
        p_prompt.is_current, clock_timestamp())
    on conflict (name, language, version) do update
       set content            = excluded.content,
           schema             = excluded.schema,
           token_count        = excluded.token_count,
           schema_token_count = excluded.schema_token_count,
           checksum           = excluded.checksum,
           is_current         = excluded.is_current
     where p.is_shipped = excluded.is_shipped;
end;
$function$;

comment on function recall._store_prompt(recall.prompts) is
    'Store a version of a prompt, in use or not, with its checksum.';
