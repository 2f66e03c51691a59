-- recall.list_sealed_users(other_than, after_id, limit) -> sealed users, in the order of their ids
-- With other_than, the name of a wrapping key, only users of whose data keys another wraps one:
-- nobody is listed any more when the others may be dropped. Where a transaction has an identity it
-- is of that user alone.
-- Raises  RC003.
create or replace function recall.list_sealed_users(
    p_other_than text    default null,
    p_after_id   uuid    default null,
    p_limit      integer default 1000
)
returns table (
    user_id uuid
)
language plpgsql
stable
parallel safe
security definer
set search_path from current
set plan_cache_mode = force_custom_plan
as $function$
declare
    v_user text := recall._identity();
begin
    perform recall._check_limit(p_limit);
    return query
    select distinct k.user_id
      from recall.user_keys as k
     where (p_other_than is null or k.wrapping_key <> p_other_than)
       and (p_after_id is null or k.user_id > p_after_id)
       and (v_user is null or k.user_id::text = v_user)
     order by k.user_id
     limit p_limit;
end;
$function$;

comment on function recall.list_sealed_users(text, uuid, integer) is
    'Sealed users by id, all or those with a data key that another wrapping key than this wraps.';
