-- Count the turns of some sessions, or of all sessions of the user.
-- The generic plan, as in recall._session_titles, avoids locks on the indexes of the partition.
create or replace function recall._count_turns(
    p_user_id     uuid,
    p_session_ids uuid[]
)
returns bigint
language plpgsql
stable
parallel safe
set search_path to pg_catalog, recall, pg_temp
set plan_cache_mode = force_generic_plan
as $function$
begin
    return (
        select coalesce(sum(s.turn_count), 0)
          from recall.sessions as s
         where s.user_id = p_user_id
           and (p_session_ids is null or s.session_id = any (p_session_ids)));
end;
$function$;

comment on function recall._count_turns(uuid, uuid[]) is
    'How many turns a user, or some of their sessions, have.';
