-- Reject a custom prompt that its step cannot use.
-- The shipped schema lists the fields that the step reads in an answer.
-- Raises  RC003.
create or replace function recall._check_prompt(
    p_name    text,
    p_content text,
    p_version text,
    p_schema  jsonb,
    p_shipped jsonb
)
returns void
language plpgsql
immutable
parallel safe
set search_path from current
as $function$
declare
    v_longest constant integer := 100000;
    v_problem text;
begin
    if coalesce(p_content, '') = '' or length(p_content) > v_longest then
        raise exception using
            errcode = 'RC003',
            message = case when coalesce(p_content, '') = ''
                           then format('prompt %s has no content', p_name)
                           else format('prompt %s has %s characters', p_name, length(p_content))
                      end,
            hint    = format('Pass the instructions of the step, at most %s characters.',
                             v_longest);
    end if;
    if p_version is null or p_version collate "C" !~ '^[A-Za-z0-9._-]{1,40}$'
       or p_version collate "C" ~ '^[0-9]+$' then
        raise exception using
            errcode = 'RC003',
            message = format('version %L of prompt %s', left(p_version, 80), p_name),
            hint    = 'One to 40 letters, digits, dots, underscores and hyphens, such as own-1. '
                      'Plain numbers are releases: recall.reset_prompt returns to theirs.';
    end if;

    v_problem := recall._schema_problem(p_schema, p_shipped, '');
    if v_problem is not null then
        raise exception using
            errcode = 'RC003',
            message = format('the schema of prompt %s: %s', p_name, v_problem),
            hint    = 'Begin with the shipped one: select schema from recall.list_prompts() where '
                      || format('name = %L and is_shipped.', p_name);
    end if;
end;
$function$;

comment on function recall._check_prompt(text, text, text, jsonb, jsonb) is
    'Reject (RC003) a custom prompt without text, with an invalid version, or with a schema that '
    'its step cannot use.';
