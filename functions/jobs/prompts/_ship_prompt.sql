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
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_prompt recall.prompts;
begin
    v_prompt.name               := p_name;
    v_prompt.language           := p_language;
    v_prompt.version            := p_version;
    v_prompt.content            := btrim(regexp_replace(p_content, E'\n  +', ' ', 'g'), E'\n');
    v_prompt.schema             := p_schema;
    v_prompt.token_count        := p_token_count;
    v_prompt.schema_token_count := p_schema_token_count;
    v_prompt.is_shipped         := true;
    v_prompt.is_current         := not exists (
        select from recall.prompts as p
         where p.name       = p_name
           and p.language   = p_language
           and p.is_current
           and not p.is_shipped);
    perform recall._store_prompt(v_prompt);
end;
$function$;

comment on function recall._ship_prompt(text, text, text, integer, integer, text, jsonb) is
    'Store a prompt of the release; a prompt that the installation has set stays in use.';
