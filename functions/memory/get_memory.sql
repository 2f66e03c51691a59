-- Return one memory, current or ended; no row for an unknown id.
create or replace function recall.get_memory(
    p_user_id   uuid,
    p_memory_id uuid
)
returns setof recall.memory_row
language plpgsql
stable
parallel safe
security definer
set search_path to pg_catalog, recall, pg_temp
set plan_cache_mode = force_generic_plan
set max_parallel_workers_per_gather = 0
as $function$
begin
    perform recall._check_user(p_user_id);

    return query
    select c.*
      from recall.memory_store as m
     cross join lateral recall._memory_columns(row(m.*)) as c
     where m.user_id   = p_user_id
       and m.memory_id = p_memory_id;
end;
$function$;

comment on function recall.get_memory(uuid, uuid) is
    'A memory of the user, current or ended; no row when unknown.';
