-- Delete the user's row; return how many rows, 0 or 1.
-- Afterwards every writer of this user waits, and then finds no user. A missing row is inserted
-- first, to conflict with a transaction that creates it at the same time.
-- Locks   the user, exclusively.
create or replace function recall._remove_user(
    p_user_id uuid
)
returns integer
language plpgsql
volatile
parallel unsafe
set search_path to pg_catalog, recall, pg_temp
set plan_cache_mode = force_custom_plan
as $function$
declare
    v_now   timestamptz := clock_timestamp();
    v_count integer     := 1;
begin
    loop
        delete from recall.users as u where u.user_id = p_user_id;
        exit when found;
        insert into recall.users (user_id, created_at)
        values (p_user_id, v_now)
        on conflict (user_id) do nothing;
        v_count := case when found then 0 else 1 end;
    end loop;
    return v_count;
end;
$function$;

comment on function recall._remove_user(uuid) is
    'Delete the user''s row and block all of the user''s writers.';
