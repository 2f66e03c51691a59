-- Delete the prompts of erased sessions, and replaced ones, that no session uses; return how many.
-- A transaction that opens a session with such a prompt has locked it for share. So lock the
-- prompts first, then check again. Of two erasures at once, each still sees the other's session:
-- the second one leaves their prompt to purge_expired. Any login can take that advisory lock, which
-- delays the deletion, too.
-- Locks   the prompts that seem unused.
create or replace function recall._collect_system_prompts(
    p_hashes bytea[]
)
returns bigint
language plpgsql
volatile
parallel unsafe
set search_path from current
as $function$
declare
    v_now    constant timestamptz := clock_timestamp();
    v_own    bytea[];
    v_used   bytea[];
    v_unused bytea[];
    v_count  bigint;
begin
    -- A function of a user cannot read the sessions of all nodes on Citus: purge_expired does.
    if not recall._is_distributed() then
        v_own := array(
            select h.hash
              from unnest(p_hashes) as h (hash)
             where pg_try_advisory_xact_lock(
                 hashtextextended('pgrecall.prompt ' || encode(h.hash, 'hex'), 0)));
    end if;
    update recall.system_prompts as p
       set released_at = v_now
     where p.prompt_hash = any (array(
               select r.prompt_hash
                 from recall.system_prompts as r
                where r.prompt_hash = any (p_hashes)
                  and r.released_at is null
                  and r.prompt_hash = any (v_own) is not true
                  for no key update skip locked));
    if v_own is null then
        return 0;
    end if;

    v_unused := v_own || array(
        select p.prompt_hash from recall.system_prompts as p where p.released_at is not null);
    v_used   := recall._used_prompts(v_unused);
    v_unused := array(
        select p.prompt_hash
          from recall.system_prompts as p
         where p.prompt_hash = any (v_unused)
           and p.prompt_hash <> all (v_used)
           for update skip locked);
    v_used   := recall._used_prompts(v_unused);
    delete from recall.system_prompts as p
     where p.prompt_hash = any (v_unused)
       and p.prompt_hash <> all (v_used);
    get diagnostics v_count = row_count;
    return v_count;
end;
$function$;

comment on function recall._collect_system_prompts(bytea[]) is
    'Delete those system prompts that no session uses, and replaced ones.';
