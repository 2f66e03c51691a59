-- Move the extraction cursor of a session to its last turn.
-- A running extraction then fails its check of the cursor, and the next one starts after it.
-- Locks   the session.
-- Raises  RC001.
create or replace function recall._skip_unread_turns(
    p_user_id    uuid,
    p_session_id uuid
)
returns void
language plpgsql
volatile
parallel unsafe
set search_path to pg_catalog, recall, pg_temp
set plan_cache_mode = force_custom_plan
as $function$
declare
    v_now timestamptz := clock_timestamp();
begin
    update recall.sessions as s
       set extracted_through_turn = s.turn_count,
           extracted_user_turns   = s.user_turn_count,
           updated_at             = v_now
     where s.user_id    = p_user_id
       and s.session_id = p_session_id;

    if not found then
        perform recall._unknown_session(p_session_id);
    end if;
end;
$function$;

comment on function recall._skip_unread_turns(uuid, uuid) is
    'Exclude the unread turns of a session from extraction permanently.';
