-- recall._hold_user(user)
-- Keeps other writers of the user's memories, and his forgetting, waiting; changes nothing. A plan
-- for the one leaf: a generic one would hold a lock on every leaf.
-- Locks   the user, when there is one.
create or replace function recall._hold_user(
    p_user_id uuid
)
returns void
language plpgsql
volatile
parallel unsafe
set search_path from current
set plan_cache_mode = force_custom_plan
as $function$
begin
    perform
       from recall.users as u
      where u.user_id = p_user_id
        for no key update;
end;
$function$;

comment on function recall._hold_user(uuid) is 'Take the user''s row, as it is.';
