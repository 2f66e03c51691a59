-- Delete released system prompts that no session uses, and return how many.
-- A session that changes its prompt releases the old one, which is deleted a day later if unused.
-- An erasure releases what it must leave. A used one stays released, since the session that used it
-- may be gone the next moment.
-- Storing the prompt again takes the release back under the row's lock.
create or replace function recall._purge_prompts(
    p_now   timestamptz,
    p_limit integer
)
returns integer
language plpgsql
volatile
parallel unsafe
set search_path from current
as $function$
declare
    v_released bytea[];
    v_used     bytea[];
    v_count    integer;
begin
    select array_agg(d.prompt_hash)
      into v_released
      from (
            select p.prompt_hash
              from recall.system_prompts as p
             where p.released_at < p_now - interval '1 day'
             order by p.released_at
             limit p_limit
               for update skip locked
           ) as d;
    if v_released is null then
        return 0;
    end if;

    v_used := recall._used_prompts(v_released);
    update recall.system_prompts as p
       set released_at = p_now
     where p.prompt_hash = any (v_used);
    delete from recall.system_prompts as p
     where p.prompt_hash = any (v_released)
       and p.prompt_hash <> all (v_used);
    get diagnostics v_count = row_count;
    return v_count;
end;
$function$;

comment on function recall._purge_prompts(timestamptz, integer) is
    'Delete released system prompts that no session uses.';
