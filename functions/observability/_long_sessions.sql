-- Count the sessions past their compaction threshold.
-- They wait for a model, or settings.summaries allows none (unasked). It reads every open session:
-- for `pgrecall status`, not for health().
create or replace function recall._long_sessions(
    out o_waiting bigint,
    out o_unasked bigint
)
language plpgsql
stable
parallel safe
set search_path to pg_catalog, recall, pg_temp
as $function$
begin
    select count(*), count(*) filter (where recall._summaries_mode(row(s.*), t.settings) = 'none')
      into o_waiting, o_unasked
      from recall.sessions as s
     cross join lateral (select recall._settings(s.user_id) as settings offset 0) as t
     where s.status in ('active', 'paused')
       and s.active_tokens > 0
       and recall._needs_compaction(row(s.*), t.settings);
end;
$function$;

comment on function recall._long_sessions() is
    'How many sessions wait for a model that summarizes them, and for how many none is allowed.';
