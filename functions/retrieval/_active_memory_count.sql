-- Return how many active memories a user has; 0 for an unknown user.
create or replace function recall._active_memory_count(
    p_user_id uuid
)
returns integer
language plpgsql
stable
parallel safe
set search_path to pg_catalog, recall, pg_temp
as $function$
begin
    return coalesce(
        (select u.active_memory_count from recall.users as u where u.user_id = p_user_id), 0);
end;
$function$;

comment on function recall._active_memory_count(uuid) is
    'How many active memories a user has. A search compares all of up to '
    'settings.exact_search_limit, and only candidates of more.';
