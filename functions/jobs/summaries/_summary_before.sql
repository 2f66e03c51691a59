-- Return a session's live summary of the first kind that exists, and the last turn of all of them.
-- Planned per call for the one partition: jobs read several partitioned tables, and a generic plan
-- locks every partition of each.
create or replace function recall._summary_before(
    p_session recall.sessions,
    p_kinds   text[],
    out o_content text,
    out o_through integer
)
language plpgsql
stable
parallel safe
set search_path to pg_catalog, recall, pg_temp
set plan_cache_mode = force_custom_plan
as $function$
begin
    select (array_agg(s.content order by array_position(p_kinds, s.kind)))[1],
           coalesce(max(s.to_turn), 0)
      into o_content, o_through
      from recall.session_summaries as s
     where s.user_id    = p_session.user_id
       and s.session_id = p_session.session_id
       and s.kind       = any (p_kinds)
       and s.ended_at is null;
end;
$function$;

comment on function recall._summary_before(recall.sessions, text[]) is
    'A session''s live summary of the first of some kinds, and the last turn that they cover.';
