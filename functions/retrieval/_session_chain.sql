-- Return a session and the sessions that it continues.
create or replace function recall._session_chain(
    p_user_id    uuid,
    p_session_id uuid
)
returns uuid[]
language plpgsql
stable
parallel safe
set search_path to pg_catalog, recall, pg_temp
as $function$
begin
    return array(
        with recursive chain as (
            select p_session_id as session_id
             union
            select s.parent_session_id
              from chain as c
              join recall.sessions as s
                on s.user_id    = p_user_id
               and s.session_id = c.session_id
             where s.parent_session_id is not null
        )
        select c.session_id from chain as c);
end;
$function$;

comment on function recall._session_chain(uuid, uuid) is
    'Sessions whose local memories apply in a session: itself, its parent, and so on.';
