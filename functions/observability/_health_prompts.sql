-- Report whether each step has a usable prompt.
-- Checksums cover text and schema; set_prompt never changes an existing version, so a mismatch
-- means a manual edit. A release may require a field that a custom schema lacks.
create or replace function recall._health_prompts()
returns table (
    name   text,
    status text,
    detail text,
    hint   text
)
language plpgsql
stable
parallel safe
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_language constant text := (select s.prompt_language from recall.settings as s);
    v_edited   text;
    v_missing  text;
    v_unfit    text;
    v_foreign  text;
begin
    select string_agg(recall._prompt_name(row(p.*)), ', ' order by recall._prompt_name(row(p.*)))
      into v_edited
      from recall.prompts as p
     where p.checksum <> recall._prompt_checksum(p.content, p.schema);

    select string_agg(t.step, ', ' order by t.step)
      into v_missing
      from unnest('{extract,consolidate,summarize,compact,merge,pattern,verify}'::text[])
               as t (step)
     where not exists (
               select from recall.prompts as p
                where p.name     = t.step
                  and p.language = 'en'
                  and p.is_current);

    select string_agg(format('%s: %s', recall._prompt_name(row(p.*)), u.problem), '; '
                      order by recall._prompt_name(row(p.*)))
      into v_unfit
      from recall.prompts as p
     cross join lateral (
            select recall._schema_problem(p.schema, s.schema, '')
              from recall.prompts as s
             where s.name = p.name
               and s.language in (p.language, 'en')
               and s.is_shipped
             order by s.language = p.language desc, s.created_at desc
             limit 1
           ) as u (problem)
     where p.is_current
       and not p.is_shipped
       and u.problem is not null;

    if not exists (
        select from recall.prompts as p
         where p.language = v_language
           and p.is_current) then
        v_foreign := v_language;
    end if;

    return query
    select 'prompts',
           case when v_missing is not null or v_unfit is not null then 'fail'
                when v_edited is not null or v_foreign is not null then 'warn'
                else 'ok' end,
           coalesce(nullif(concat_ws('; ',
               'no prompt is in use for ' || v_missing,
               'the schema of an own prompt lacks what the step reads: ' || v_unfit,
               'changed by hand: ' || v_edited,
               'no prompt is in the language of prompt_language, ' || v_foreign), ''),
               'each step has a prompt, and none was changed by hand'),
           nullif(concat_ws(' ',
               case when v_missing is not null then 'Run the installer again.' end,
               case when v_unfit is not null
                    then 'Set a new version with the shipped schema and what you add to it: '
                         'recall.set_prompt(…).' end,
               case when v_edited is not null
                    then 'The provenance names another text than the one in use: '
                         'run the installer again, which restores shipped ones, or set the text '
                         'as a version of its own: recall.set_prompt(…).' end,
               case when v_foreign is not null
                    then 'Steps use the English ones. select recall.set_prompt(name, content, '
                         || format('version, p_language => %L); or ', v_foreign)
                         || 'select recall.configure(''{"prompt_language": "en"}'');' end), '');
end;
$function$;

comment on function recall._health_prompts() is
    'Health of prompts: one for each step, valid, unedited, in the configured language.';
