-- recall._has_vectors(user) -> are vectors of this user's texts stored?
-- Planned for the one leaf, as recall._lock_user has it.
create or replace function recall._has_vectors(
    p_user_id uuid
)
returns boolean
language plpgsql
stable
parallel safe
set search_path from current
set plan_cache_mode = force_custom_plan
as $function$
begin
    return coalesce((select u.has_vectors from recall.users as u where u.user_id = p_user_id),
                    true);
end;
$function$;

comment on function recall._has_vectors(uuid) is
    'Whether vectors of a user''s texts are stored: not of one sealed without them.';
