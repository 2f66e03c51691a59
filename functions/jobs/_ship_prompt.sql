-- Store a prompt of the release, and use it unless the installation uses one of its own.
-- A line that begins with two spaces continues the line before it.
create or replace function recall._ship_prompt(
    p_name               text,
    p_version            text,
    p_language           text,
    p_token_count        integer,
    p_schema_token_count integer,
    p_content            text,
    p_schema             jsonb
)
returns void
language plpgsql
volatile
parallel unsafe
set search_path from current
as $function$
declare
    v_content text    := btrim(regexp_replace(p_content, E'\n  +', ' ', 'g'), E'\n');
    v_own     boolean := exists (
        select from recall.prompts as p
         where p.name       = p_name
           and p.language   = p_language
           and p.is_current
           and not p.is_shipped);
begin
    update recall.prompts as p
       set is_current = false
     where p.name       = p_name
       and p.language   = p_language
       and p.version   <> p_version
       and p.is_shipped;
    insert into recall.prompts as p (
        name, language, version, content, schema, token_count, schema_token_count, checksum,
        is_shipped, is_current, created_at)
    values (
        p_name, p_language, p_version, v_content, p_schema, p_token_count, p_schema_token_count,
        recall._prompt_checksum(v_content, p_schema), true, not v_own, clock_timestamp())
    on conflict (name, language, version) do update
       set content            = excluded.content,
           schema             = excluded.schema,
           token_count        = excluded.token_count,
           schema_token_count = excluded.schema_token_count,
           checksum           = excluded.checksum,
           is_shipped         = true,
           is_current         = excluded.is_current
     where p.is_shipped;
end;
$function$;

comment on function recall._ship_prompt(text, text, text, integer, integer, text, jsonb) is
    'Store a prompt of the release; a prompt that the installation has set stays in use.';
