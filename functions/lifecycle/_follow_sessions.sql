-- Move the expiry of memories that follow their session.
-- They live settings.session_memory_grace longer than the session, whose end moves with its use,
-- and no longer than their kind. They are checked half the grace earlier, so readers never miss
-- them. Closing a session settles them at once (recall._end_session_memories).
create or replace function recall._follow_sessions(
    p_user_id    uuid,
    p_memory_ids uuid[],
    p_now        timestamptz,
    p_settings   recall.settings
)
returns void
language plpgsql
volatile
parallel unsafe
set search_path to pg_catalog, recall, pg_temp
set plan_cache_mode = force_generic_plan
as $function$
declare
    v_moved   uuid[];
    v_details jsonb[];
begin
    with wanted as (
        select m.memory_id,
               least(s.expires_at + p_settings.session_memory_grace, m.created_at + k.lifetime)
                   as expires_at
          from recall.memory_store as m
          join recall.sessions as s on s.user_id = p_user_id and s.session_id = m.session_id
          left join recall.memory_kinds as k on k.kind = m.kind
         where m.user_id   = p_user_id
           and m.memory_id = any (p_memory_ids)
           and m.end_reason is null
           and m.follows_session
           and s.status    <> 'closed'
    ), moved as (
        update recall.memory_store as m
           set expires_at = w.expires_at,
               updated_at = p_now
          from wanted as w
         where m.user_id    = p_user_id
           and m.memory_id  = w.memory_id
           and w.expires_at > m.expires_at
        returning m.memory_id, m.expires_at
    )
    select coalesce(array_agg(v.memory_id), '{}'),
           array_agg(jsonb_build_object('expires_at', v.expires_at))
      into v_moved, v_details
      from moved as v;
    perform recall._log_events(p_user_id, v_moved, 'extended', v_details);
end;
$function$;

comment on function recall._follow_sessions(uuid, uuid[], timestamptz, recall.settings) is
    'Move the expiry of memories with that of their session.';
