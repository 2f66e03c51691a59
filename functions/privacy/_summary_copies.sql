-- Return the copies of a session's summaries in the sessions that continue it.
-- A session inherits its parent's newest summary, which may be the parent's own copy.
create or replace function recall._summary_copies(
    p_user_id    uuid,
    p_session_id uuid
)
returns uuid[]
language plpgsql
stable
parallel safe
set search_path to pg_catalog, recall, pg_temp
set plan_cache_mode = force_custom_plan
as $function$
begin
    return array(
        with recursive copies (session_id, summary_id, content) as (
            select c.session_id, c.summary_id, c.content
              from recall.sessions as s
              join recall.session_summaries as c
                on c.user_id    = s.user_id
               and c.session_id = s.session_id
             where s.user_id           = p_user_id
               and s.parent_session_id = p_session_id
               and c.to_turn           = 0
            union all
            select c.session_id, c.summary_id, c.content
              from copies as k
              join recall.sessions as s
                on s.user_id           = p_user_id
               and s.parent_session_id = k.session_id
              join recall.session_summaries as c
                on c.user_id    = s.user_id
               and c.session_id = s.session_id
               and c.content    = k.content
               and c.to_turn    = 0
        ) cycle session_id set is_cycle using path
        select k.summary_id from copies as k);
end;
$function$;

comment on function recall._summary_copies(uuid, uuid) is
    'The copies of a session''s summaries in the sessions that continue it.';
