-- recall._lock_user(user) -> the user's new memory_revision
-- Every writer of a user's memories calls this first, in a statement of its own, before it reads
-- anything: two writers with the same text leave one active row, and opposite supersessions
-- cannot retire both. Makes the user's row when there is none. Planned for the one leaf (20 µs
-- more): a cached plan would lock all of them. No CHECK rules out a leaf: not looking saves 8 µs.
-- Locks   the user.
create or replace function recall._lock_user(
    p_user_id uuid
)
returns bigint
language plpgsql
volatile
parallel unsafe
set search_path from current
set plan_cache_mode = force_custom_plan
set constraint_exclusion = off
as $function$
declare
    v_since    pg_snapshot := pg_current_snapshot();
    v_revision bigint;
begin
    loop
        update recall.users as u
           set memory_revision = u.memory_revision + 1
         where u.user_id = p_user_id
        returning u.memory_revision into v_revision;
        exit when found;
        perform recall._ensure_user(p_user_id, p_since => v_since);
    end loop;
    return v_revision;
end;
$function$;

comment on function recall._lock_user(uuid) is
    'Take the user''s row for a change of memories; returns the new memory_revision.';
