-- Lock a user's rows of unlogged tables against writers until the transaction ends.
-- It returns how many rows of user_locks there were, 0 or 1; a missing one is inserted.
-- It waits for the user's own writers only, and not for long: an application may have written
-- working memory and wait for the user's row, which the erasure locks.
-- Locks   the user's row of user_locks.
-- Raises  55P03 with the process that writes.
create or replace function recall._lock_unlogged_for_update(
    p_user_id uuid
)
returns integer
language plpgsql
volatile
parallel unsafe
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_before constant text := recall._bound_erasure_wait();
    v_count  integer       := 1;
begin
    begin
        loop
            perform from recall.user_locks as l
              where l.user_id = p_user_id
                for update;
            exit when found;
            insert into recall.user_locks (user_id) values (p_user_id)
            on conflict (user_id) do nothing;
            v_count := 0;
            exit when found;
            v_count := 1;
        end loop;
    exception when lock_not_available then
        perform recall._raise_open_writer(p_user_id);
    end;
    perform set_config('lock_timeout', v_before, true);
    return v_count;
end;
$function$;

comment on function recall._lock_unlogged_for_update(uuid) is
    'Lock a user''s rows of unlogged tables against writers until the transaction ends.';
