-- Lock a user's rows of unlogged tables for share; return whether the user exists.
-- For writers of accesses and working memory: an erasure waits for this lock, and a writer that
-- waited for an erasure must read afterwards what it writes about. It writes no WAL (user_locks).
-- Locks   the user's row of user_locks, for key share.
create or replace function recall._lock_unlogged_for_share(
    p_user_id uuid
)
returns boolean
language plpgsql
volatile
parallel unsafe
set search_path to pg_catalog, recall, pg_temp
as $function$
begin
    loop
        perform from recall.user_locks as l
          where l.user_id = p_user_id
            for key share;
        if found then
            return true;
        end if;
        insert into recall.user_locks (user_id)
        select u.user_id from recall.users as u where u.user_id = p_user_id
        on conflict (user_id) do nothing;
        exit when found;
        if not exists (select from recall.users as u where u.user_id = p_user_id) then
            return false;
        end if;
    end loop;
    -- The insert may have waited for an erasure, and its snapshot still has the user.
    delete from recall.user_locks as l
     where l.user_id = p_user_id
       and not exists (select from recall.users as u where u.user_id = p_user_id);
    return not found;
end;
$function$;

comment on function recall._lock_unlogged_for_share(uuid) is
    'Lock a user''s rows of unlogged tables for share, so that an erasure waits; false for an '
    'unknown user.';
