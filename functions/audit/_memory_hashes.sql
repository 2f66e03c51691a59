-- recall._memory_hashes(user, memories) -> their hashes, in the same order; NULL for no memory
create or replace function recall._memory_hashes(
    p_user_id    uuid,
    p_memory_ids uuid[]
)
returns bytea[]
language plpgsql
stable
parallel safe
set search_path from current
set plan_cache_mode = force_generic_plan
as $function$
begin
    return array(
        select (select recall._memory_hash(m)
                  from recall.memory_store as m
                 where m.user_id   = p_user_id
                   and m.memory_id = i.id)
          from unnest(p_memory_ids) as i (id));
end;
$function$;

comment on function recall._memory_hashes(uuid, uuid[]) is
    'The hashes of memories as they are now.';
