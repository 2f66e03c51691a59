-- recall._sealed_paths(user, paths, with_retired) -> paths to texts, keys that may seal them
-- NULLs for a user who is not sealed. Vectors are readable texts in a way: a user sealed with them
-- wished it so. The keys stay until the transaction ends: what is written by a key that is being
-- replaced is exchanged with the rest, or refused; in the audit, which is not rewritten, a retired
-- one will do.
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
set search_path from current
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
    'The JSON paths of a row that hold texts, as far as they must be sealed for this user, and the '
    'numbers of the keys that may have sealed them.';
