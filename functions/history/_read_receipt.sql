-- Return the result of an earlier append with this request id.
-- The id of a message that was erased since is null.
create or replace function recall._read_receipt(
    p_user_id    uuid,
    p_session_id uuid,
    p_request_id uuid
)
returns table (
    message_id uuid,
    turn_index integer
)
language plpgsql
stable
parallel safe
set search_path to pg_catalog, recall, pg_temp
set plan_cache_mode = force_custom_plan
as $function$
declare
    v_session recall.sessions;
    v_receipt recall.append_receipts;
begin
    select s.*
      into v_session
      from recall.sessions as s
     where s.user_id    = p_user_id
       and s.session_id = p_session_id;

    select r.*
      into v_receipt
      from recall.append_receipts as r
     where r.user_id    = p_user_id
       and r.request_id = p_request_id;

    return query
    select h.message_id, t.turn_index
      from generate_series(v_receipt.from_turn, v_receipt.to_turn) as t (turn_index)
      left join (
            select m.message_id, m.turn_index
              from recall.conversation_history as m
             where m.user_id    = p_user_id
               and m.session_id = p_session_id
               and m.created_at between v_session.created_at and v_session.last_message_at
               and m.turn_index between v_receipt.from_turn and v_receipt.to_turn
           ) as h on h.turn_index = t.turn_index
     order by t.turn_index;
end;
$function$;

comment on function recall._read_receipt(uuid, uuid, uuid) is
    'Message ids and turns of an earlier append with this request id.';
