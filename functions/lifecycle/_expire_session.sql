-- Expire one session if it is still due, and return whether it did.
-- As in a close, working memory is deleted, and the rest of extraction and summary becomes jobs.
-- Memories that follow the session live on from its expires_at.
-- Locks   the session, if it is free.
create or replace function recall._expire_session(
    p_user_id    uuid,
    p_session_id uuid,
    p_now        timestamptz
)
returns boolean
language plpgsql
volatile
parallel unsafe
set search_path to pg_catalog, recall, pg_temp
set plan_cache_mode = force_generic_plan
as $function$
declare
    v_at      timestamptz := clock_timestamp();
    v_session recall.sessions;
    v_through integer;
begin
    select s.*
      into v_session
      from recall.sessions as s
     where s.user_id    = p_user_id
       and s.session_id = p_session_id
       and s.status in ('active', 'paused')
       and s.expires_at <= p_now
       for no key update skip locked;
    if not found then
        return false;
    end if;

    update recall.sessions as s
       set status     = 'expired',
           updated_at = p_now
     where s.user_id    = p_user_id
       and s.session_id = p_session_id;
    delete from recall.working_memory as w
     where w.user_id    = p_user_id
       and w.session_id = p_session_id;

    select max(c.to_turn)
      into v_through
      from recall.session_summaries as c
     where c.user_id    = p_user_id
       and c.session_id = p_session_id
       and c.kind       = 'rolling'
       and c.ended_at is null;
    perform recall._enqueue_last_work(v_session, recall._settings(p_user_id), v_at,
                                      coalesce(v_through, 0) < v_session.turn_count);
    return true;
end;
$function$;

comment on function recall._expire_session(uuid, uuid, timestamptz) is
    'Expire one session that is due. Returns false when it is not, or is locked.';
