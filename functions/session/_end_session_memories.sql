-- Shorten the expiry of memories that follow a session which was closed.
-- The caller has locked the user.
create or replace function recall._end_session_memories(
    p_user_id    uuid,
    p_session_id uuid,
    p_until      timestamptz
)
returns void
language plpgsql
volatile
parallel unsafe
set search_path to pg_catalog, recall, pg_temp
set plan_cache_mode = force_custom_plan
as $function$
declare
    v_ids uuid[];
begin
    with ended as (
        update recall.memory_store as m
           set expires_at = p_until
         where m.user_id           = p_user_id
           and m.source_session_id = p_session_id
           and m.ended_at is null
           and m.session_id        = p_session_id
           and m.follows_session
           and m.expires_at        > p_until
        returning m.memory_id
    )
    select coalesce(array_agg(e.memory_id), '{}') into v_ids from ended as e;
    perform recall._log_events(p_user_id, v_ids, 'session_closed',
                               array[jsonb_build_object('expires_at', p_until)]);
end;
$function$;

comment on function recall._end_session_memories(uuid, uuid, timestamptz) is
    'Shorten the expiry of memories that follow a closed session.';
