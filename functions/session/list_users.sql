-- List users by id, with the number of their memories.
-- A transaction with an identity (recall.user_id) sees that user only.
-- Raises  RC003.
create or replace function recall.list_users(
    p_after_id uuid    default null,
    p_limit    integer default 100
)
returns table (
    user_id             uuid,
    external_id         text,
    active_memory_count integer,
    is_sealed           boolean,
    overrides           jsonb,
    metadata            jsonb,
    created_at          timestamptz
)
language plpgsql
stable
parallel safe
security definer
set search_path to pg_catalog, recall, pg_temp
set plan_cache_mode = force_custom_plan
set enable_seqscan = off
set jit = off
set enable_bitmapscan = off
set max_parallel_workers_per_gather = 0
as $function$
declare
    v_user text := recall._identity();
begin
    perform recall._check_limit(p_limit);

    return query
    select u.user_id, u.external_id, u.active_memory_count, u.is_sealed, u.overrides, u.metadata,
           u.created_at
      from recall.users as u
     where (p_after_id is null or u.user_id > p_after_id)
       and (v_user is null or u.user_id::text = v_user)
     order by u.user_id
     limit p_limit;
end;
$function$;

comment on function recall.list_users(uuid, integer) is
    'Users by id, with the number of their active memories. The next page starts after '
    'p_after_id. Where recall.user_id is set, only that user. RC003: a bad limit.';
