-- Return which of some system prompts a session uses.
-- One look-up in an index for each prompt: a popular one is in most sessions, and a plan by
-- statistics would read them all.
create or replace function recall._used_prompts(
    p_hashes bytea[]
)
returns bytea[]
language plpgsql
stable
parallel safe
set search_path from current
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_bitmapscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set max_parallel_workers_per_gather = 0
set jit = off
as $function$
begin
    return array(
        select h.hash
          from unnest(p_hashes) as h (hash)
         where exists (
                select 1 from recall.sessions as s where s.system_prompt_hash = h.hash));
end;
$function$;

comment on function recall._used_prompts(bytea[]) is 'Those system prompts that a session uses.';
