-- Delete the prompts of erased sessions, and replaced ones, that no session uses; return how many.
-- The caller has locked the unlogged tables: of two erasures, the later one sees the first one's
-- deleted sessions. A transaction that opens a session with such a prompt has locked it for share,
-- so the prompts are locked, then checked again. purge_expired deletes what is locked now.
-- Locks   the prompts that seem unused.
create or replace function recall._collect_system_prompts(
    p_hashes bytea[]
)
returns bigint
language plpgsql
volatile
parallel unsafe
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_now    constant timestamptz := clock_timestamp();
    v_used   bytea[] := '{}'::bytea[];
    v_unused bytea[];
    v_count  bigint  := 0;
begin
    -- A function of a user cannot read the sessions of all nodes on Citus: purge_expired does.
    if not recall._is_distributed() then
        -- A hundred of the replaced ones: this user's are among the newest, usually.
        v_unused := p_hashes || array(
            select p.prompt_hash
              from recall.system_prompts as p
             where p.released_at is not null
             order by p.released_at desc
             limit 100);
        v_used   := recall._used_prompts(v_unused);
        v_unused := array(
            select p.prompt_hash
              from recall.system_prompts as p
             where p.prompt_hash = any (v_unused)
               and p.prompt_hash <> all (v_used)
               for update skip locked);
        v_used   := v_used || recall._used_prompts(v_unused);
        delete from recall.system_prompts as p
         where p.prompt_hash = any (v_unused)
           and p.prompt_hash <> all (v_used);
        get diagnostics v_count = row_count;
    end if;

    update recall.system_prompts as p
       set released_at = v_now
     where p.prompt_hash = any (array(
               select r.prompt_hash
                 from recall.system_prompts as r
                where r.prompt_hash = any (p_hashes)
                  and r.prompt_hash <> all (v_used)
                  and r.released_at is null
                  for no key update skip locked));
    return v_count;
end;
$function$;

comment on function recall._collect_system_prompts(bytea[]) is
    'Delete those system prompts that no session uses, and replaced ones.';
