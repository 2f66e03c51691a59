-- recall._hold_unlogged_tables()
-- Notes of accesses and working memory are written without a lock on any row, to spare them the
-- WAL. So the last step of forgetting keeps their writers out for a moment. It waits little, and
-- often, since whoever comes while it waits has to queue behind it.
-- Locks   memory_access_log and working_memory against writers.
-- Raises  55P03 when somebody has held one of them for seconds.
create or replace function recall._hold_unlogged_tables()
returns void
language plpgsql
volatile
parallel unsafe
set search_path from current
set lock_timeout = '100ms'
as $function$
declare
    v_tries integer := 60;
begin
    loop
        begin
            lock table recall.memory_access_log, recall.working_memory
              in share row exclusive mode;
            return;
        exception when lock_not_available then
            v_tries := v_tries - 1;
            if v_tries = 0 then
                raise;
            end if;
        end;
        perform pg_sleep(0.05);
    end loop;
end;
$function$;

comment on function recall._hold_unlogged_tables() is
    'Keep writers of the unlogged tables out until the transaction ends.';
