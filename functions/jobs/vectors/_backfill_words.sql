-- Write message_words for a user's turns that were searchable before the table existed.
-- It counts turns. A batch ends with a whole session. Encrypted users have no words.
-- Locks   the sessions, one after the other.
create or replace function recall._backfill_words(
    p_user_id      uuid,
    p_position     jsonb,
    p_limit        integer,
    out o_done     integer,
    out o_position jsonb
)
language plpgsql
volatile
parallel unsafe
set search_path from current
set plan_cache_mode = force_custom_plan
as $function$
declare
    v_session recall.sessions;
begin
    o_done := 0;
    if recall._is_sealed_user(p_user_id) then
        return;
    end if;
    loop
        select s.*
          into v_session
          from recall.sessions as s
         where s.user_id    = p_user_id
           and s.session_id > coalesce(v_session.session_id, (p_position ->> 'session')::uuid,
                                       '00000000-0000-0000-0000-000000000000')
         order by s.session_id
         limit 1
           for no key update;
        if not found then
            o_position := null;
            return;
        end if;
        perform recall._pack_words(p_user_id, v_session.session_id, v_session.indexed_through_turn,
                                   v_session.indexed_through_turn, true);
        o_done     := o_done + greatest(v_session.indexed_through_turn, 1);
        o_position := jsonb_build_object('session', v_session.session_id);
        exit when o_done >= p_limit;
    end loop;
end;
$function$;

comment on function recall._backfill_words(uuid, jsonb, integer) is
    'Write message_words for one user''s turns that were searchable before the table existed.';
