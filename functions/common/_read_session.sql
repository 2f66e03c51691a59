-- Return a session without a lock.
-- Raises  RC001.
create or replace function recall._read_session(
    p_user_id    uuid,
    p_session_id uuid
)
returns recall.sessions
language plpgsql
stable
parallel safe
set search_path to pg_catalog, recall, pg_temp
set plan_cache_mode = force_generic_plan
as $function$
declare
    v_session recall.sessions;
begin
    select s.*
      into v_session
      from recall.sessions as s
     where s.user_id    = p_user_id
       and s.session_id = p_session_id;

    if not found then
        perform recall._unknown_session(p_session_id);
    end if;
    return v_session;
end;
$function$;

comment on function recall._read_session(uuid, uuid) is
    'A session, without a lock (RC001 when there is none).';
