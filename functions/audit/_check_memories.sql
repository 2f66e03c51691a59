-- List memories that differ from the state their last event recorded.
-- Findings are memory_changed, memory_inserted (no event names it) and memory_missing.
create or replace function recall._check_memories(
    p_user_id uuid
)
returns table (
    finding   text,
    event_no  bigint,
    memory_id uuid,
    detail    text
)
language plpgsql
stable
parallel safe
set search_path to pg_catalog, recall, pg_temp
set plan_cache_mode = force_custom_plan
as $function$
begin
    return query
    select case
               when m.memory_id is null then 'memory_missing'
               when k.memory_id is null then 'memory_inserted'
               else 'memory_changed'
           end,
           k.event_no, coalesce(k.memory_id, m.memory_id),
           case
               when m.memory_id is null
                   then format('event %s knows a memory that is not there', k.event_no)
               when k.memory_id is null
                   then 'no event knows of the memory'
               when not m.is_hashed
                   then 'its content is not what its content_hash was made of'
               else format('it is not as event %s left it', k.event_no)
           end
      from (
            select distinct on (e.memory_id) e.memory_id, e.event_no, e.memory_hash
              from recall.memory_events as e
             where e.user_id = p_user_id
               and e.memory_hash is not null
             order by e.memory_id, e.event_no desc
           ) as k
      full join (
            select s.memory_id, recall._memory_hash(row(s.*)) as memory_hash,
                   s.content_hash = recall._content_hash(s.content) as is_hashed
              from recall.memory_store as s
             where s.user_id = p_user_id
           ) as m on m.memory_id = k.memory_id
     where m.memory_hash is distinct from k.memory_hash
        or not m.is_hashed;
end;
$function$;

comment on function recall._check_memories(uuid) is
    'Memories that differ from what the audit recorded.';
