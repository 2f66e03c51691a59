-- List the current memories of a user, newest first by creation.
-- The primary key gives the order, so a page costs as much at any depth. p_before_id need not
-- exist any more.
-- Raises  RC003.
create or replace function recall.list_memories(
    p_user_id   uuid,
    p_filter    jsonb   default '{}',
    p_limit     integer default 50,
    p_before_id uuid    default null
)
returns setof recall.memory_row
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
    v_filter recall.memory_filter;
begin
    perform recall._check_user(p_user_id);
    perform recall._check_json(p_filter, 'p_filter');
    perform recall._check_limit(p_limit);
    v_filter := recall._read_filter(p_filter);

    return query
    select c.*
      from recall.memory_store as m
     cross join lateral recall._memory_columns(row(m.*)) as c
     where m.user_id = p_user_id
       and (v_filter.include_ended or m.end_reason is null)
       and recall._memory_visible(row(m.*), v_filter, null)
       and recall._memory_matches(row(m.*), v_filter)
       and (p_before_id is null or m.memory_id < p_before_id)
     order by m.memory_id desc
     limit p_limit;
end;
$function$;

comment on function recall.list_memories(uuid, jsonb, integer, uuid) is
    'Memories of the user, newest first by creation, for pages. Filter keys as in get_memories. '
    'The next page starts after p_before_id. RC003: an unknown filter key, or a bad limit.';
