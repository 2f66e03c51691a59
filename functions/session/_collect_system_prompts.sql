-- Delete the prompts of erased sessions, and replaced ones, that no session uses; return how many.
-- Two erasures at once may each see the other's session: what stays is marked, and purge_expired
-- deletes it. A transaction that opens a session with such a prompt has locked it for share, so the
-- prompts are locked, then checked again.
-- Locks   the prompts that seem unused, as far as they are free.
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
    v_hashes bytea[];
    v_count  bigint := 0;
begin
    -- A function of a user cannot read the sessions of all nodes on Citus: purge_expired does.
    if not recall._is_distributed() then
        -- A hundred of the replaced ones: this user's are among the newest, usually.
        v_hashes := p_hashes || array(
            select p.prompt_hash
              from recall.system_prompts as p
             where p.released_at is not null
             order by p.released_at desc
             limit 100);
        v_count  := recall._delete_unused_prompts(v_hashes);
    end if;
    perform recall._release_prompts(p_hashes);
    return v_count;
end;
$function$;

comment on function recall._collect_system_prompts(bytea[]) is
    'Delete those system prompts that no session uses, and replaced ones.';
