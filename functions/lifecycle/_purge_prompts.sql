-- recall._purge_prompts(now, limit) -> how many were deleted
-- A session that changes its prompt releases the old one; a day later it goes, unless some session
-- uses it. Storing it again takes the release back, under the row's lock.
create or replace function recall._purge_prompts(
    p_now   timestamptz,
    p_limit integer
)
returns integer
language plpgsql
volatile
parallel unsafe
set search_path from current
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
as $function$
declare
    v_hash  bytea;
    v_count integer := 0;
begin
    for v_hash in
        select p.prompt_hash
          from recall.system_prompts as p
         where p.released_at < p_now - interval '1 day'
         order by p.released_at
         limit p_limit
           for update skip locked
    loop
        if exists (select from recall.sessions as s where s.system_prompt_hash = v_hash) then
            update recall.system_prompts as p
               set released_at = null
             where p.prompt_hash = v_hash;
        else
            delete from recall.system_prompts as p
             where p.prompt_hash = v_hash;
            v_count := v_count + 1;
        end if;
    end loop;
    return v_count;
end;
$function$;

comment on function recall._purge_prompts(timestamptz, integer) is
    'Delete released system prompts that no session uses.';
