-- Lock a user for share; create the user when there is none.
-- For writers of rows that are not memories: an erasure waits for this lock, writers of memories
-- do not.
-- Locks   the user, for key share.
create or replace function recall._lock_user_for_share(
    p_user_id uuid
)
returns void
language plpgsql
volatile
parallel unsafe
set search_path to pg_catalog, recall, pg_temp
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

comment on function recall._lock_user_for_share(uuid) is
    'Lock a user for share, so that an erasure waits; creates an unknown user.';
