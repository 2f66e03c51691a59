-- Delete those of some system prompts that no session uses; return how many rows.
-- A used prompt is never locked: a call that stores it would keep a copy of its own.
-- Locks   the prompts that seem unused, as far as they are free.
create or replace function recall._delete_unused_prompts(
    p_hashes bytea[]
)
returns integer
language plpgsql
volatile
parallel unsafe
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_used  bytea[] := recall._used_prompts(p_hashes);
    v_ids   uuid[];
    v_count integer;
begin
    v_ids := array(
        select p.prompt_id
          from recall.system_prompts as p
         where p.prompt_hash =  any (p_hashes)
           and p.prompt_hash <> all (v_used)
           for update skip locked);
    v_used := recall._used_prompts(p_hashes);
    delete from recall.system_prompts as p
     where p.prompt_hash =  any (p_hashes)
       and p.prompt_hash <> all (v_used)
       and p.prompt_id   =  any (v_ids);
    get diagnostics v_count = row_count;
    return v_count;
end;
$function$;

comment on function recall._delete_unused_prompts(bytea[]) is
    'Delete those of some system prompts that no session uses.';
