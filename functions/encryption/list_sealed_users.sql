-- List encrypted users by id.
-- With p_other_than, the name of a key encryption key, only users with a data encryption key
-- wrapped by another one. Older key encryption keys can be dropped when this list is empty. A
-- transaction with an identity sees that user only.
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
set search_path to pg_catalog, recall, pg_temp
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
    'Encrypted users by id: all, or those with a data encryption key that is not wrapped by '
    'p_other_than. The next page starts after p_after_id. RC003: a bad limit.';
