-- Lock the unlogged tables against writers until the transaction ends.
-- Accesses and working memory are written without a row lock, to spare the WAL, so only a table
-- lock stops their writers. It waits for 100 ms at a time: other sessions queue behind each wait.
-- Locks   memory_access_log, then working_memory. See docs/architecture.md.
-- Raises  55P03 when another transaction has held one of them for nine seconds.
create or replace function recall._lock_unlogged_tables(
    p_with_working boolean
)
returns void
language plpgsql
volatile
parallel unsafe
set search_path to pg_catalog, recall, pg_temp
set lock_timeout = '100ms'
as $function$
declare
    v_tries integer := 60;
begin
    loop
        begin
            lock table recall.memory_access_log in share row exclusive mode;
            if p_with_working then
                lock table recall.working_memory in share row exclusive mode;
            end if;
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

comment on function recall._lock_unlogged_tables(boolean) is
    'Lock memory_access_log, and working_memory if wanted, against writers until the transaction '
    'ends.';
