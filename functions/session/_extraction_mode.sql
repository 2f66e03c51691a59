-- recall._extraction_mode(session, settings) -> llm, verbatim or none
-- A session's metadata ("extraction") goes before the settings of its user.
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
    'How memories are drawn from a session: llm, verbatim or none.';
