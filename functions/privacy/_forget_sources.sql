-- Return the memories whose only source is one session, and remove that source from the others.
-- A turn whose month is gone counts as the session's if the memory names the session as its source.
create or replace function recall._forget_sources(
    p_user_id     uuid,
    p_session_id  uuid,
    p_message_ids uuid[]
)
returns uuid[]
language plpgsql
volatile
parallel unsafe
set search_path to pg_catalog, recall, pg_temp
set plan_cache_mode = force_custom_plan
as $function$
declare
    v_elsewhere uuid[];
    v_only      uuid[];
    v_kept      uuid[];
    v_events    bigint[];
begin
    v_elsewhere := array(
        select h.message_id
          from recall.conversation_history as h
         where h.user_id     = p_user_id
           and h.session_id <> p_session_id
           and h.message_id  = any (array(
                   select t.id
                     from recall.memory_store as m
                    cross join lateral unnest(m.source_turn_ids) as t (id)
                    where m.user_id = p_user_id
                      and (m.session_id = p_session_id or m.source_session_id = p_session_id)
                      and t.id <> all (p_message_ids))));
    v_only := array(
        select m.memory_id
          from recall.memory_store as m
         where m.user_id = p_user_id
           and (m.session_id = p_session_id
                or m.source_session_id = p_session_id
                or m.source_session_id is null and m.source_turn_ids && p_message_ids)
           and (m.source_turn_ids <@ p_message_ids
                or m.source_session_id = p_session_id and not m.source_turn_ids && v_elsewhere)
           and not exists (
                   select from recall.memory_events as e
                    where e.user_id   = p_user_id
                      and e.memory_id = m.memory_id
                      and e.event     = 'duplicate'
                      and e.detail ->> 'session_id' <> p_session_id::text));

    with kept as (
        update recall.memory_store as m
           set source_turn_ids    = array(
                   select t.id from unnest(m.source_turn_ids) with ordinality as t (id, place)
                    where t.id <> all (p_message_ids) order by t.place),
               provenance_turn_id = case when m.provenance_turn_id <> all (p_message_ids)
                                         then m.provenance_turn_id end,
               source_session_id  = nullif(m.source_session_id, p_session_id),
               session_id         = nullif(m.session_id, p_session_id),
               scope              = case when m.session_id = p_session_id then 'global'
                                         else m.scope end,
               follows_session    = m.follows_session and m.session_id <> p_session_id
         where m.user_id = p_user_id
           and (m.session_id = p_session_id or m.source_session_id = p_session_id
                or m.source_turn_ids && p_message_ids)
           and m.memory_id <> all (v_only)
        returning m.memory_id
    )
    select coalesce(array_agg(k.memory_id), '{}') into v_kept from kept as k;

    select array_agg(e.event_no), v_kept || array_agg(e.memory_id)
      into v_events, v_kept
      from recall.memory_events as e
     where e.user_id = p_user_id
       and e.event   = 'duplicate'
       and e.detail ->> 'session_id' = p_session_id::text;
    perform recall._forget_events(p_user_id, coalesce(v_events, '{}'));
    perform recall._log_events(p_user_id, array(
        select distinct k.id from unnest(v_kept) as k (id) where k.id <> all (v_only)), 'unlinked');
    return v_only;
end;
$function$;

comment on function recall._forget_sources(uuid, uuid, uuid[]) is
    'The memories that came from one session alone; other memories lose it as a source.';
