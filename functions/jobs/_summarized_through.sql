-- Return the last turn that a live summary covers; 0 when there is none.
-- Planned per call for the one partition, like _summary_text.
create or replace function recall._summarized_through(
    p_session recall.sessions
)
returns integer
language plpgsql
stable
parallel safe
set search_path from current
set plan_cache_mode = force_custom_plan
as $function$
begin
    return (
        select coalesce(max(s.to_turn), 0)
          from recall.session_summaries as s
         where s.user_id    = p_session.user_id
           and s.session_id = p_session.session_id
           and s.ended_at is null);
end;
$function$;

comment on function recall._summarized_through(recall.sessions) is
    'Last turn that a live summary of a session covers; 0 when there is none.';
