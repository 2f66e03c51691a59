-- Return which of some system prompts a session uses.
-- One look-up in an index for each prompt, by a subquery with a limit: a join, or EXISTS, which
-- becomes one, would read all sessions, since most have the same few prompts.
create or replace function recall._used_prompts(
    p_hashes bytea[]
)
returns bytea[]
language plpgsql
stable
parallel safe
set search_path to pg_catalog, recall, pg_temp
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_bitmapscan = off
set max_parallel_workers_per_gather = 0
set jit = off
as $function$
begin
    -- Citus joins no function with the sessions of all nodes.
    if recall._is_distributed() then
        return array(
            select distinct s.system_prompt_hash
              from recall.sessions as s
             where s.system_prompt_hash = any (p_hashes));
    end if;
    return array(
        select h.hash
          from unnest(p_hashes) as h (hash)
         where (
                select true
                  from recall.sessions as s
                 where s.system_prompt_hash = h.hash
                 limit 1));
end;
$function$;

comment on function recall._used_prompts(bytea[]) is 'Those system prompts that a session uses.';
