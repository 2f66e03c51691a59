-- Return how memories are extracted from a session: llm, verbatim or none.
-- A session's metadata ("extraction") takes precedence over the user's settings.
create or replace function recall._extraction_mode(
    p_session  recall.sessions,
    p_settings recall.settings
)
returns text
language sql
immutable
parallel safe
as $function$
    select case
        when p_session.metadata ->> 'extraction' in ('llm', 'verbatim', 'none')
            then p_session.metadata ->> 'extraction'
        else p_settings.extraction
    end;
$function$;

comment on function recall._extraction_mode(recall.sessions, recall.settings) is
    'How memories are extracted from a session: llm, verbatim or none.';
