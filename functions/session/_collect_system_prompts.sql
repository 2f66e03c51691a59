-- Delete the prompts that no session uses; return how many.
-- A transaction that opens a session with such a prompt has locked it for share. So lock the
-- prompts first, then check again. It reads all sessions once: an index would cost every statement
-- on sessions its locks.
-- Locks   the prompts that seem unused.
create or replace function recall._collect_system_prompts()
returns bigint
language plpgsql
volatile
parallel unsafe
set search_path from current
as $function$
declare
    v_now    constant timestamptz := clock_timestamp();
    v_unused bytea[];
    v_count  bigint;
begin
    -- A function of a user cannot read the sessions of all nodes on Citus: purge_expired does.
    if recall._is_distributed() then
        update recall.system_prompts as p
           set released_at = v_now
         where p.released_at is null;
        return 0;
    end if;
    v_unused := array(
        select p.prompt_hash
          from recall.system_prompts as p
         where not exists (
                select 1 from recall.sessions as s where s.system_prompt_hash = p.prompt_hash)
           for update of p skip locked);
    if v_unused = '{}' then
        return 0;
    end if;

    delete from recall.system_prompts as p
     where p.prompt_hash = any (v_unused)
       and not exists (
               select 1 from recall.sessions as s where s.system_prompt_hash = p.prompt_hash);
    get diagnostics v_count = row_count;
    return v_count;
end;
$function$;

comment on function recall._collect_system_prompts() is
    'Delete the system prompts that no session uses.';
