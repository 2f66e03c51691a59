-- Return the match below which a context leaves a memory out.
-- This is the option min_match, or settings.context_min_match. It is NULL, which leaves nothing
-- out, for a query that no memory can match: one without words, about the user, or a greeting.
create or replace function recall._context_min_match(
    p_options  jsonb,
    p_query    text,
    p_settings recall.settings
)
returns double precision
language plpgsql
stable
parallel safe
set search_path from current
as $function$
begin
    if p_options ? 'min_match' then
        return (p_options ->> 'min_match')::double precision;
    end if;
    if p_query <> '' and recall._is_unspecific(p_query, p_settings.language) then
        return null;
    end if;
    return p_settings.context_min_match;
end;
$function$;

comment on function recall._context_min_match(jsonb, text, recall.settings) is
    'Least match of a memory in a context; NULL for a query that names nothing to look for.';
