-- Return the current prompt of a step, in the language of the settings if there is one.
-- Raises  RC007 there is none.
create or replace function recall._prompt(
    p_name     text,
    p_language text
)
returns recall.prompts
language plpgsql
stable
parallel safe
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_prompt recall.prompts;
begin
    select p.*
      into v_prompt
      from recall.prompts as p
     where p.name       = p_name
       and p.language in (p_language, 'en')
       and p.is_current
     order by p.language = p_language desc
     limit 1;

    if not found then
        raise exception using
            errcode = 'RC007',
            message = format('there is no prompt %s', p_name),
            hint    = 'Run the installer again: it stores the prompts of the release.';
    end if;
    return v_prompt;
end;
$function$;

comment on function recall._prompt(text, text) is
    'The current prompt of a step; the English one where the language has none.';
