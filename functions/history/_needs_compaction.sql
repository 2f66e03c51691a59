-- Tell whether the turns of a session exceed the compaction threshold.
-- The share is cast to numeric as in recall._history_budget: 0.8 as real is slightly more.
create or replace function recall._needs_compaction(
    p_session  recall.sessions,
    p_settings recall.settings
)
returns boolean
language sql
immutable
parallel safe
as $function$
    select p_session.active_tokens > p_settings.compaction_threshold::numeric
                                     * recall._history_budget(p_session, p_settings);
$function$;

comment on function recall._needs_compaction(recall.sessions, recall.settings) is
    'Whether the tokens of a session''s turns exceed their share of the history budget.';
