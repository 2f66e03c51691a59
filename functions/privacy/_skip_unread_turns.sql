-- recall._skip_unread_turns(user, session)
-- Moves the cursor of extraction to the end of what was said: an extraction that is running finds
-- that the world moved, and the next one begins behind it.
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
set search_path from current
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
    'Leave the turns of a session that are not extracted yet as they are, for good.';
