-- Return the release's prompt of a step in a language, or the English one where it has none.
-- Raises  RC003 unknown name, or an invalid language.
create or replace function recall._shipped_prompt(
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
    if p_language is null or p_language collate "C" !~ '^[a-z]{2,3}(-[A-Za-z0-9]{2,8})*$' then
        raise exception using
            errcode = 'RC003',
            message = format('language %L is not a BCP 47 tag', left(p_language, 80)),
            hint    = 'Use a tag such as en, de or pt-BR.';
    end if;

    select p.*
      into v_prompt
      from recall.prompts as p
     where p.name = p_name
       and p.language in (p_language, 'en')
       and p.is_shipped
     order by p.language = p_language desc, p.created_at desc
     limit 1;
    if not found then
        raise exception using
            errcode = 'RC003',
            message = format('unknown prompt %L', left(p_name, 80)),
            hint    = 'Known: ' || (select string_agg(distinct p.name, ', ' order by p.name)
                                      from recall.prompts as p);
    end if;
    return v_prompt;
end;
$function$;

comment on function recall._shipped_prompt(text, text) is
    'The release''s prompt of a step in a language, or in English (RC003 for an unknown step).';
