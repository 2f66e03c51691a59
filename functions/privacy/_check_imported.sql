-- Reject an import that is inconsistent in ways that no constraint detects.
-- A message outside of its session's times would outlive the session (forget_session). A cycle of
-- successors has no end.
-- Raises  RC003.
create or replace function recall._check_imported(
    p_user_id uuid
)
returns void
language plpgsql
stable
parallel safe
set search_path to pg_catalog, recall, pg_temp
set plan_cache_mode = force_custom_plan
as $function$
declare
    v_wrong text;
begin
    select case
               when h.first_at < s.created_at or h.last_at > s.last_message_at
                   then format('session %s has messages before it began, or after its last one',
                               s.session_id)
               else format('session %s has %s messages, not %s',
                           coalesce(s.session_id, h.session_id), coalesce(h.messages, 0),
                           s.turn_count - s.first_retained_turn + 1)
           end
      into v_wrong
      from (select * from recall.sessions where user_id = p_user_id) as s
      full join (
            select t.session_id, max(t.turn_index) as last_turn,
                   count(*) filter (where t.turn_index >= r.first_turn) as messages,
                   min(t.turn_index) filter (where t.turn_index >= r.first_turn) as first_turn,
                   min(t.created_at) as first_at, max(t.created_at) as last_at
              from recall.conversation_history as t
              left join (
                    select s.session_id, s.first_retained_turn
                      from recall.sessions as s
                     where s.user_id = p_user_id
                   ) as r (session_id, first_turn) on r.session_id = t.session_id
             where t.user_id = p_user_id
             group by t.session_id
           ) as h on h.session_id = s.session_id
     where s.session_id is null
        or coalesce(h.messages, 0) <> s.turn_count - s.first_retained_turn + 1
        or h.first_turn <> s.first_retained_turn
        or h.last_turn <> s.turn_count
        or h.first_at < s.created_at
        or h.last_at > s.last_message_at
     limit 1;
    if not found then
        with recursive ended (memory_id) as (
            select m.memory_id
              from recall.memory_store as m
             where m.user_id = p_user_id
               and m.superseded_by is null
            union all
            select m.memory_id
              from ended as e
              join recall.memory_store as m
                on m.user_id = p_user_id and m.superseded_by = e.memory_id
        )
        select format('memory %s leads to one that is not there, or in a circle', m.memory_id)
          into v_wrong
          from recall.memory_store as m
         where m.user_id = p_user_id
           and m.memory_id not in (select e.memory_id from ended as e)
         limit 1;
    end if;
    if v_wrong is not null then
        raise exception using
            errcode = 'RC003',
            message = format('p_document: %s', v_wrong),
            hint    = 'Pass what recall.export_user returned, as it was.';
    end if;
end;
$function$;

comment on function recall._check_imported(uuid) is
    'Reject an import whose parts are inconsistent (RC003).';
