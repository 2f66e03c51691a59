-- Delete released system prompts that no session uses, and return how many.
-- A session that changes its prompt releases the old one, which is deleted a day later if unused.
-- An erasure releases what it must leave. A used one stays released and is checked again half a day
-- later, since an erasure may be about to delete the session. o_more: the batch was full.
-- Locks   prompts, as far as they are free.
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
    -- None in a simulated future, where the same batch would come again and again.
    v_checked  constant timestamptz := case when p_now <= clock_timestamp()
                                            then p_now - interval '12 hours' end;
    v_released bytea[];
    v_used     bytea[];
begin
    v_released := array(
        select p.prompt_hash
          from recall.system_prompts as p
         where p.released_at < p_now - interval '1 day'
         order by p.released_at
         limit p_limit);
    o_more := cardinality(v_released) >= p_limit;
    o_done := recall._delete_unused_prompts(v_released);

    v_used := recall._used_prompts(v_released);
    update recall.system_prompts as p
       set released_at = v_checked
     where p.prompt_hash = any (v_used)
       and p.prompt_id   = any (array(
               select r.prompt_id
                 from recall.system_prompts as r
                where r.prompt_hash = any (v_used)
                  and r.released_at < p_now - interval '1 day'
                  for no key update skip locked));
end;
$function$;

comment on function recall._purge_prompts(timestamptz, integer) is
    'Delete released system prompts that no session uses.';
