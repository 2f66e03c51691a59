-- Use the release's prompt of a step again; own versions stay stored.
-- Where the release has no prompt in the language, the step uses the English one.
-- Locks   the table of prompts against other writers.
-- Raises  RC003.
create or replace function recall.reset_prompt(
    p_name     text,
    p_language text default 'en'
)
returns text
language plpgsql
volatile
parallel unsafe
security definer
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_shipped recall.prompts;
begin
    lock table recall.prompts in share row exclusive mode;
    v_shipped := recall._shipped_prompt(p_name, p_language);

    update recall.prompts as p
       set is_current = false
     where p.name     = p_name
       and p.language = p_language
       and p.is_current;
    update recall.prompts as p
       set is_current = true
     where p.name     = p_name
       and p.language = p_language
       and p.version  = v_shipped.version
       and p.is_shipped;
    return recall._prompt_name(recall._prompt(p_name, p_language));
end;
$function$;

comment on function recall.reset_prompt(text, text) is
    'Use the release''s prompt of a step again; returns its name in the provenance.';
