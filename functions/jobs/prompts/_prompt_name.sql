-- Return the name of a prompt in the provenance: name@version, plus the language unless English.
create or replace function recall._prompt_name(
    p_prompt recall.prompts
)
returns text
language sql
immutable
parallel safe
as $function$
    select (p_prompt).name || '@' || (p_prompt).version
           || case when (p_prompt).language = 'en' then '' else ':' || (p_prompt).language end;
$function$;

comment on function recall._prompt_name(recall.prompts) is
    'Name of a prompt in the provenance: extract@1, or extract@own-1:de.';
