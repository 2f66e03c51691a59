-- Return whether the caller works for all users: with the rights of the worker, the admin or the
-- owner. In a function of the owner, current_user is the owner; the caller is who has logged in, or
-- the role that they have set since. That is known by its name, which another role may have got
-- meanwhile: a role that the login may not set counts as a role without rights.
create or replace function recall._serves_all_users()
returns boolean
language plpgsql
stable
parallel safe
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_caller name := current_setting('role');
begin
    if v_caller = 'none' then
        v_caller := session_user;
    end if;
    return exists (
        select
          from recall.settings as s
          join pg_catalog.pg_roles as c
            on c.rolname = v_caller and pg_has_role(session_user, c.oid, 'set')
          join pg_catalog.pg_roles as r
            on r.rolname in (s.role_prefix || '_worker', s.role_prefix || '_admin', (
                   select pg_get_userbyid(n.nspowner)
                     from pg_catalog.pg_namespace as n
                    where n.nspname = 'recall'))
         where pg_has_role(c.oid, r.oid, 'usage'));
end;
$function$;

comment on function recall._serves_all_users() is
    'Whether the caller has the rights of the worker, the admin or the owner.';
