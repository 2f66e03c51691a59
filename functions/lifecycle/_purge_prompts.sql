-- Delete released system prompts that no session uses, and return how many.
-- A session that changes its prompt releases the old one, which is deleted a day later if unused.
-- An erasure releases what it must leave. A used one stays released and is checked again half a day
-- later, since an erasure may be about to delete the session. o_more: the batch was full.
-- Storing the prompt again takes the release back under the row's lock.
create or replace function recall._purge_prompts(
    p_now      timestamptz,
    p_limit    integer,
    out o_done integer,
    out o_more boolean
)
language plpgsql
volatile
parallel unsafe
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_released bytea[];
    v_used     bytea[];
begin
    o_done := 0;
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
    o_more := coalesce(cardinality(v_released) >= p_limit, false);
    if v_released is null then
        return;
    end if;

    v_used := recall._used_prompts(v_released);
    update recall.system_prompts as p
       set released_at = case when p_now <= clock_timestamp() then p_now - interval '12 hours' end
     where p.prompt_hash = any (v_used);
    delete from recall.system_prompts as p
     where p.prompt_hash = any (v_released)
       and p.prompt_hash <> all (v_used);
    get diagnostics o_done = row_count;
end;
$function$;

comment on function recall._purge_prompts(timestamptz, integer) is
    'Delete released system prompts that no session uses.';
