-- Count the sessions that are past their threshold of compaction.
-- They wait for a model; unasked are those of which settings.summaries lets none have them.
-- Reads every open session: for pgrecall status, not for health().
create or replace function recall._long_sessions(
    out o_waiting bigint,
    out o_unasked bigint
)
language plpgsql
stable
parallel safe
set search_path from current
as $function$
begin
    select count(*), count(*) filter (where recall._summaries_mode(s, t.settings) = 'none')
      into o_waiting, o_unasked
      from recall.sessions as s
     cross join lateral (select recall._settings(s.user_id) as settings offset 0) as t
     where s.status in ('active', 'paused')
       and s.active_tokens > 0
       and recall._needs_compaction(s, t.settings);
end;
$function$;

comment on function recall._long_sessions() is
    'How many sessions wait for a model that summarizes them, and of how many none may.';
