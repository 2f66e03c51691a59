-- recall._keep_user(user)
-- For who writes rows of a user without being a writer of memories: the user, made when there is
-- none, stays until the transaction ends, since forgetting waits for this lock. Writers of
-- memories do not.
-- Locks   the user, shared.
create or replace function recall._keep_user(
    p_user_id uuid
)
returns void
language plpgsql
volatile
parallel unsafe
set search_path from current
set plan_cache_mode = force_custom_plan
as $function$
declare
    v_since pg_snapshot := pg_current_snapshot();
begin
    loop
        perform from recall.users as u
          where u.user_id = p_user_id
            for key share;
        exit when found;
        perform recall._ensure_user(p_user_id, p_since => v_since);
    end loop;
end;
$function$;

comment on function recall._keep_user(uuid) is
    'Keep the user from being forgotten until the transaction ends; makes an unknown one.';
