-- Use an installation's own prompt for a step, instead of the one in use.
-- Memories name the prompt that made them, so versions stay stored, their text never changes, and
-- an earlier one can return to use. Plain numbers are versions of releases, so no upgrade meets an
-- own prompt under its name. A newer prompt of a release leaves this one in use.
-- Locks   the table of prompts against other writers: one prompt of a name and language is in use.
-- Raises  RC003.
create or replace function recall.set_prompt(
    p_name     text,
    p_content  text,
    p_version  text,
    p_schema   jsonb default null,
    p_language text  default 'en'
)
returns text
language plpgsql
volatile
parallel unsafe
security definer
set search_path from current
as $function$
declare
    v_shipped recall.prompts := recall._shipped_prompt(p_name, p_language);
    v_content text           := btrim(p_content, E' \t\r\n');
    v_schema  jsonb;
    v_prompt  recall.prompts;
begin
    perform recall._check_json(p_schema, 'p_schema');
    v_schema := coalesce(p_schema, v_shipped.schema);
    perform recall._check_prompt(p_name, v_content, p_version, v_schema, v_shipped.schema);

    lock table recall.prompts in share row exclusive mode;
    select p.*
      into v_prompt
      from recall.prompts as p
     where p.name     = p_name
       and p.language = p_language
       and p.version  = p_version;
    if v_prompt.content <> v_content or v_prompt.schema <> v_schema then
        raise exception using
            errcode = 'RC003',
            message = format('prompt %s exists with another text or schema',
                             recall._prompt_name(v_prompt)),
            hint    = 'What it made names this version: give the new text a version of its own.';
    end if;

    update recall.prompts as p
       set is_current = false
     where p.name      = p_name
       and p.language  = p_language
       and p.version  <> p_version
       and p.is_current;
    insert into recall.prompts as p (
        name, language, version, content, schema, token_count, schema_token_count, checksum,
        is_current, created_at)
    values (
        p_name, p_language, p_version, v_content, v_schema, recall._estimate_tokens(v_content),
        case when v_schema = v_shipped.schema then v_shipped.schema_token_count
             else recall._estimate_tokens(v_schema::text) end,
        recall._prompt_checksum(v_content, v_schema), true, clock_timestamp())
    on conflict (name, language, version) do update
       set is_current = true
    returning * into v_prompt;
    return recall._prompt_name(v_prompt);
end;
$function$;

comment on function recall.set_prompt(text, text, text, jsonb, text) is
    'Use an own prompt for a step (extract, consolidate, summarize, compact, merge, pattern, '
    'verify), with the schema of the answer (NULL: the shipped one). Returns its name in the '
    'provenance.';
