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
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_longest constant integer := 100000;
    v_shipped constant recall.prompts := recall._shipped_prompt(p_name, p_language);
    v_problem text;
    v_known   recall.prompts;
    v_prompt  recall.prompts := v_shipped;
begin
    perform recall._check_json(p_schema, 'p_schema');
    v_prompt.language   := p_language;
    v_prompt.version    := p_version;
    v_prompt.content    := btrim(p_content, E' \t\r\n');
    v_prompt.schema     := coalesce(p_schema, v_shipped.schema);
    v_prompt.is_shipped := false;
    v_prompt.is_current := true;
    if coalesce(v_prompt.content, '') = '' or length(v_prompt.content) > v_longest then
        raise exception using
            errcode = 'RC003',
            message = case when coalesce(v_prompt.content, '') = ''
                           then format('prompt %s has no content', p_name)
                           else format('prompt %s has %s characters', p_name,
                                       length(v_prompt.content)) end,
            hint    = format('Pass the instructions of the step, at most %s characters.',
                             v_longest);
    end if;
    if p_version is null or p_version collate "C" !~ '^[A-Za-z0-9._-]{1,40}$'
       or p_version collate "C" ~ '^[0-9]+$' then
        raise exception using
            errcode = 'RC003',
            message = format('version %L of prompt %s is not valid', left(p_version, 80), p_name),
            hint    = 'Use 1 to 40 letters, digits, dots, underscores and hyphens, such as own-1. '
                      'Plain numbers are releases: recall.reset_prompt returns to theirs.';
    end if;
    -- The shipped schema lists the fields that the step reads in an answer.
    v_problem := recall._schema_problem(v_prompt.schema, v_shipped.schema, '');
    if v_problem is not null then
        raise exception using
            errcode = 'RC003',
            message = format('the schema of prompt %s: %s', p_name, v_problem),
            hint    = 'Begin with the shipped one: select schema from recall.list_prompts() where '
                      || format('name = %L and is_shipped.', p_name);
    end if;

    lock table recall.prompts in share row exclusive mode;
    select p.*
      into v_known
      from recall.prompts as p
     where p.name     = p_name
       and p.language = p_language
       and p.version  = p_version;
    if v_known.content <> v_prompt.content or v_known.schema <> v_prompt.schema then
        raise exception using
            errcode = 'RC003',
            message = format('prompt %s exists with another text or schema',
                             recall._prompt_name(v_known)),
            hint    = 'Memories name the version that made them: choose another version.';
    end if;

    v_prompt.token_count := recall._estimate_tokens(v_prompt.content);
    if v_prompt.schema <> v_shipped.schema then
        v_prompt.schema_token_count := recall._estimate_tokens(v_prompt.schema::text);
    end if;
    perform recall._store_prompt(v_prompt);
    return recall._prompt_name(v_prompt);
end;
$function$;

comment on function recall.set_prompt(text, text, text, jsonb, text) is
    'Use an own prompt for a step (extract, consolidate, summarize, compact, merge, pattern, '
    'verify), with the schema of the answer (NULL: the shipped one). Returns its name in the '
    'provenance.';
