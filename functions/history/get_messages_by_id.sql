-- Return messages by their ids, such as source_turn_ids of a memory, in the order of the ids.
-- No index has message ids. The time in an id tells which sessions can have the message. An
-- imported message is older than its id, and is looked for among all of the user's.
-- Ids that the user does not have, and retracted turns, give no row.
-- Raises  RC003 more than 1,000 ids.
-- Cost    160 ms for an imported message of a user with 100,000.
create or replace function recall.get_messages_by_id(
    p_user_id     uuid,
    p_message_ids uuid[]
)
returns table (
    message_id    uuid,
    session_id    uuid,
    turn_index    integer,
    role          text,
    content       text,
    content_parts jsonb,
    name          text,
    tool_calls    jsonb,
    tool_call_id  text,
    token_count   integer,
    created_at    timestamptz,
    metadata      jsonb
)
language plpgsql
stable
parallel safe
security definer
set search_path to pg_catalog, recall, pg_temp
set plan_cache_mode = force_custom_plan
set enable_seqscan = off
set jit = off
set max_parallel_workers_per_gather = 0
as $function$
declare
    v_left     uuid[];
    v_ids      uuid[];
    v_sessions uuid[];
    v_turns    integer[];
    v_times    timestamptz[];
begin
    perform recall._check_user(p_user_id);
    if p_message_ids is null or cardinality(p_message_ids) > 1000 then
        raise exception using
            errcode = 'RC003',
            message = format('p_message_ids has %s ids',
                             coalesce(cardinality(p_message_ids)::text, 'no')),
            hint    = 'Pass at most 1,000 ids.';
    end if;

    -- A message gets its id before its time, and may wait for its session in between.
    select array_agg(h.message_id), array_agg(h.session_id), array_agg(h.turn_index),
           array_agg(h.created_at)
      into v_ids, v_sessions, v_turns, v_times
      from (select distinct i.id, recall._uuid_time(i.id) as at
              from unnest(p_message_ids) as i (id)) as w
      join recall.sessions as s
        on s.user_id          = p_user_id
       and s.created_at      <= w.at + interval '1 hour'
       and s.last_message_at >= w.at - interval '1 second'
      join recall.conversation_history as h
        on h.user_id    = p_user_id
       and h.session_id = s.session_id
       and h.created_at between w.at - interval '1 second' and w.at + interval '1 hour'
       and h.message_id = w.id;

    v_left := array(select i.id from unnest(p_message_ids) as i (id)
                    except
                    select f.id from unnest(v_ids) as f (id));
    if v_left <> '{}' then
        select v_sessions || array_agg(h.session_id), v_turns || array_agg(h.turn_index),
               v_times || array_agg(h.created_at)
          into v_sessions, v_turns, v_times
          from recall.conversation_history as h
         where h.user_id    = p_user_id
           and h.message_id = any (v_left);
    end if;

    return query
    select h.message_id, h.session_id, h.turn_index, h.role::text, h.content, h.content_parts,
           h.name, h.tool_calls, h.tool_call_id, h.token_count, h.created_at,
           recall._annotated(p_user_id, h.session_id, h.turn_index, h.metadata)
      from unnest(v_sessions, v_turns, v_times) as k (session_id, turn_index, created_at)
      join recall.conversation_history as h
        on h.user_id    = p_user_id
       and h.session_id = k.session_id
       and h.turn_index = k.turn_index
       and h.created_at = k.created_at
      join recall.sessions as s
        on s.user_id    = p_user_id
       and s.session_id = h.session_id
     where not h.turn_index <@ coalesce(s.retracted_turns, '{}')
     order by array_position(p_message_ids, h.message_id);
end;
$function$;

comment on function recall.get_messages_by_id(uuid, uuid[]) is
    'Messages by id, in the order of the ids: what source_turn_ids of a memory name. An unknown '
    'id and a retracted turn give no row. RC003: more than 1,000 ids.';
