-- Lock a user for a change of memories; return the new memory_revision.
-- Each writer of a user's memories calls this first, in a statement of its own, before it reads:
-- two writers with the same text leave one active row, and opposite supersessions cannot retire
-- both. It creates a user that does not exist.
-- Locks   the user.
create or replace function recall._lock_user_and_bump_revision(
    p_user_id uuid
)
returns bigint
language plpgsql
volatile
parallel unsafe
set search_path to pg_catalog, recall, pg_temp
set plan_cache_mode = force_custom_plan  -- a generic plan locks every partition; costs 20 µs
set constraint_exclusion = off  -- no CHECK excludes a partition; saves 8 µs
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

comment on function recall._lock_user_and_bump_revision(uuid) is
    'Lock a user for a change of memories; returns the new memory_revision.';
