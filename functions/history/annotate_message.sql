-- Add metadata to a message after it was stored: feedback, flags, client state.
-- Readers see the merged metadata; the latest patch wins, and null removes a key. History rows are
-- never updated.
-- Locks   the session.
-- Raises  RC001, RC003.
create or replace function recall.annotate_message(
    p_user_id    uuid,
    p_session_id uuid,
    p_turn_index integer,
    p_patch      jsonb
)
returns void
language plpgsql
volatile
parallel unsafe
security definer
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_id      uuid := recall.uuidv7();
    v_session recall.sessions;
    v_now     timestamptz;
begin
    perform recall._check_user(p_user_id);
    perform recall._check_json(p_patch, 'p_patch');
    perform recall._check_metadata(p_patch, p_user_id);
    p_patch   := recall._guard_secrets(p_patch, recall._settings(p_user_id), 'p_patch');
    v_session := recall._lock_session(p_user_id, p_session_id);
    v_now     := clock_timestamp();

    if p_turn_index is null
       or p_turn_index not between v_session.first_retained_turn and v_session.turn_count then
        raise exception using
            errcode = 'RC003',
            message = format('p_turn_index is %s', coalesce(p_turn_index::text, 'null')),
            hint    = case when v_session.first_retained_turn <= v_session.turn_count
                           then format('The session has turns %s to %s.',
                                       v_session.first_retained_turn, v_session.turn_count)
                           else 'The session has no turns.' end;
    end if;

    insert into recall.message_annotations (user_id, session_id, turn_index, annotation_id, patch,
                                            created_at)
    values (p_user_id, p_session_id, p_turn_index, v_id, p_patch, v_now);
end;
$function$;

comment on function recall.annotate_message(uuid, uuid, integer, jsonb) is
    'Add metadata to a stored message: a JSON patch of keys, where the latest wins and null '
    'removes a key. RC001: the session does not exist. RC003: the turn does not exist, or the '
    'patch is malformed.';
