-- Write message_words for a user's turns that were searchable before the table existed.
-- It counts turns. A long session takes several batches. Encrypted users have no words.
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
set search_path to pg_catalog, recall, pg_temp
set plan_cache_mode = force_custom_plan
as $function$
declare
    v_session recall.sessions;
    v_through integer;
    v_turn    integer := coalesce((p_position ->> 'turn')::integer, 0);
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
           and (s.session_id, 1) > (coalesce(v_session.session_id,
                                             (p_position ->> 'session')::uuid,
                                             '00000000-0000-0000-0000-000000000000'),
                                    case when v_turn > 0 then 0 else 1 end)
         order by s.session_id
         limit 1
           for no key update;
        if not found then
            o_position := null;
            return;
        end if;
        perform recall._pack_words(p_user_id, v_session.session_id, v_session.indexed_through_turn,
                                   v_session.indexed_through_turn, true);
        v_through  := coalesce((
            select max(b.through_turn)
              from recall.message_words as b
             where b.user_id    = p_user_id
               and b.session_id = v_session.session_id), 0);
        o_done     := o_done + greatest(v_through - v_turn, 1);
        -- Again the same session, until its last turn or a call that added none.
        v_turn     := case when v_through between v_turn + 1
                                          and v_session.indexed_through_turn - 1
                           then v_through else 0 end;
        o_position := jsonb_build_object('session', v_session.session_id, 'turn', v_turn);
        exit when o_done >= p_limit;
    end loop;
end;
$function$;

comment on function recall._backfill_words(uuid, jsonb, integer) is
    'Write message_words for one user''s turns that were searchable before the table existed.';
