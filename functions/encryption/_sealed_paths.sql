-- Return the paths that must be ciphertext and the keys that may have encrypted them.
-- NULLs for users who are not encrypted. A user encrypted with vectors has allowed vectors. The key
-- lock lasts until the transaction ends: texts written with a key under rotation are exchanged with
-- the rest, or rejected. In the audit, which is not rewritten, a retired key is valid, too.
-- Locks   the user's keys, shared.
create or replace function recall._sealed_paths(
    p_user_id      uuid,
    p_paths        text[],
    p_with_retired boolean,
    out o_paths    text[],
    out o_keys     text[]
)
language plpgsql
volatile
parallel unsafe
set search_path to pg_catalog, recall, pg_temp
set plan_cache_mode = force_custom_plan
as $function$
begin
    select case when u.has_vectors then array_remove(p_paths, '$.embedding') else p_paths end
      into o_paths
      from recall.users as u
     where u.user_id = p_user_id
       and (u.is_sealed
            or exists (select from recall.user_keys as k where k.user_id = p_user_id));
    if not found then
        return;
    end if;
    select array_agg(k.key_no::text)
      into o_keys
      from (select k.key_no
              from recall.user_keys as k
             where k.user_id = p_user_id
               and (p_with_retired or k.retired_at is null)
               for key share) as k;
end;
$function$;

comment on function recall._sealed_paths(uuid, text[], boolean) is
    'The JSON paths of a row that must be ciphertext for this user, and the numbers of the keys '
    'that may have encrypted them.';
