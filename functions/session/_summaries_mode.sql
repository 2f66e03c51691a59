-- Return how a session is summarized: llm, or none.
-- Without settings.summaries, summaries follow the extraction mode, so that no text leaves the
-- machine unasked.
create or replace function recall._summaries_mode(
    p_session  recall.sessions,
    p_settings recall.settings
)
returns text
language sql
immutable
parallel safe
as $function$
    select coalesce(
        p_settings.summaries,
        case when recall._extraction_mode(p_session, p_settings) = 'llm' then 'llm'
             else 'none' end);
$function$;

comment on function recall._summaries_mode(recall.sessions, recall.settings) is
    'How a session is summarized: llm or none.';
