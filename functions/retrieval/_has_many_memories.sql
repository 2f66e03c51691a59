-- Say whether a user has more active memories than a limit.
create or replace function recall._has_many_memories(
    p_user_id uuid,
    p_limit   integer
)
returns boolean
language plpgsql
stable
parallel safe
set search_path from current
as $function$
begin
    return exists (
        select
          from recall.users as u
         where u.user_id = p_user_id
           and u.active_memory_count > p_limit);
end;
$function$;

comment on function recall._has_many_memories(uuid, integer) is
    'Whether a user has more active memories than a limit; then a search compares only '
    'candidates.';
