-- Return a user without a lock; NULLs when there is none.
create or replace function recall._read_user(
    p_user_id uuid
)
returns recall.users
language plpgsql
stable
parallel safe
set search_path to pg_catalog, recall, pg_temp
set plan_cache_mode = force_custom_plan
as $function$
declare
    v_user recall.users;
begin
    select u.* into v_user from recall.users as u where u.user_id = p_user_id;
    return v_user;
end;
$function$;

comment on function recall._read_user(uuid) is 'A user, without a lock; NULLs when there is none.';
