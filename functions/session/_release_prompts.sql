-- Mark system prompts that a session no longer uses, for purge_expired.
-- A prompt whose row is locked for update needs no mark by this call: the transaction that locked
-- it marks it, or rolls back and still uses it. So nobody waits for another user.
-- Locks   the prompts, as far as they are free.
create or replace function recall._release_prompts(
    p_hashes bytea[]
)
returns void
language plpgsql
volatile
parallel unsafe
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_now constant timestamptz := clock_timestamp();
begin
    update recall.system_prompts as p
       set released_at = v_now
     where p.prompt_hash = any (p_hashes)
       and p.prompt_id   = any (array(
               select r.prompt_id
                 from recall.system_prompts as r
                where r.prompt_hash = any (p_hashes)
                  and r.released_at is null
                  for no key update skip locked));
end;
$function$;

comment on function recall._release_prompts(bytea[]) is
    'Mark system prompts that a session no longer uses.';
