-- List what happened to a user's memories, newest first.
-- The primary key answers which events make a page, and only their rows are read.
-- Raises  RC003.
-- Cost    17 ms for a page of 100,000 events.
create or replace function recall.list_memory_events(
    p_user_id   uuid,
    p_limit     integer default 50,
    p_before_no bigint  default null
)
returns table (
    event_no  bigint,
    at        timestamptz,
    event     text,
    memory_id uuid,
    job_id    uuid,
    caller    text,
    detail    jsonb
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
begin
    perform recall._check_user(p_user_id);
    perform recall._check_limit(p_limit);

    return query
    select e.event_no, e.at, e.event, e.memory_id, e.job_id, e.caller, e.detail
      from (
            select k.memory_id, k.event_no
              from recall.memory_events as k
             where k.user_id = p_user_id
               and (p_before_no is null or k.event_no < p_before_no)
             order by k.event_no desc
             limit p_limit
           ) as p
      join recall.memory_events as e
        on e.user_id   = p_user_id
       and e.memory_id = p.memory_id
       and e.event_no  = p.event_no
     order by e.event_no desc;
end;
$function$;

comment on function recall.list_memory_events(uuid, integer, bigint) is
    'Audit of all memories of the user, newest first. For event decided, memory_id is the job. '
    'The next page starts after p_before_no. RC003: a bad limit.';
