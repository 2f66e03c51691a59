-- Return the text of a session's live summary of a kind; NULL when there is none.
-- Planned per call for the one partition: jobs read several partitioned tables, and a generic plan
-- locks every partition of each.
create or replace function recall._summary_text(
    p_session recall.sessions,
    p_kind    text
)
returns text
language plpgsql
stable
parallel safe
set search_path from current
set plan_cache_mode = force_custom_plan
as $function$
begin
    return (
        select s.content
          from recall.session_summaries as s
         where s.user_id    = p_session.user_id
           and s.session_id = p_session.session_id
           and s.kind       = p_kind
           and s.ended_at is null);
end;
$function$;

comment on function recall._summary_text(recall.sessions, text) is
    'Text of a session''s live summary of a kind; NULL when there is none.';
