-- Return the messages of a session, up to a turn, that message_search does not hold yet.
-- Answers of a memory tool (metadata "recalled") are left out: they repeat what searches find.
create or replace function recall._searchable_messages(
    p_session      recall.sessions,
    p_through_turn integer
)
returns table (
    turn_index integer,
    message_id uuid,
    role       recall.message_role,
    created_at timestamptz,
    body       text
)
language plpgsql
stable
parallel safe
set search_path to pg_catalog, recall, pg_temp
set plan_cache_mode = force_custom_plan
as $function$
begin
    return query
    select h.turn_index, h.message_id, h.role, h.created_at, t.body
      from recall.conversation_history as h
     cross join lateral (
            select recall._message_text(h.role::text, h.name, h.content, h.content_parts)
            offset 0  -- prevents subquery pull-up, which would compute the text repeatedly
           ) as t (body)
     where h.user_id    = p_session.user_id
       and h.session_id = p_session.session_id
       and h.created_at between p_session.created_at and p_session.last_message_at
       and h.turn_index > p_session.indexed_through_turn
       and h.turn_index <= p_through_turn
       and not h.turn_index <@ p_session.retracted_turns
       and h.role not in ('system', 'developer')
       and h.metadata -> 'recalled' is distinct from 'true'
       and t.body is not null
     order by h.turn_index;
end;
$function$;

comment on function recall._searchable_messages(recall.sessions, integer) is
    'Messages of a session, up to a turn, that should be searchable and are not in '
    'message_search yet.';
