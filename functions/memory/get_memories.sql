-- List the memories of a user, oldest first, for people to read and correct.
-- Rows that are local to any session are included. p_after_id returns the page after that memory.
-- Raises  RC001 unknown p_after_id, RC003.
create or replace function recall.get_memories(
    p_user_id  uuid,
    p_filter   jsonb       default '{}',
    p_as_of    timestamptz default null,
    p_limit    integer     default 100,
    p_after_id uuid        default null
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
declare
    v_filter recall.memory_filter;
    v_after  timestamptz := '-infinity'::timestamptz;
begin
    perform recall._check_user(p_user_id);
    perform recall._check_json(p_filter, 'p_filter');
    perform recall._check_limit(p_limit);
    v_filter := recall._read_filter(p_filter);
    if p_after_id is not null then
        v_after := (recall._read_memory(p_user_id, p_after_id)).created_at;
    end if;

    -- The current state needs no ended rows, so this query can use the index of active rows.
    if p_as_of is null and not v_filter.include_ended and v_filter.valid_at is null then
        return query
        select c.*
          from recall.memory_store as m
         cross join lateral recall._memory_columns(row(m.*)) as c
         where m.user_id = p_user_id
           and m.ended_at is null
           and recall._memory_visible(row(m.*), v_filter, null)
           and recall._memory_matches(row(m.*), v_filter)
           and (p_after_id is null or (m.created_at, m.memory_id) > (v_after, p_after_id))
         order by m.created_at, m.memory_id
         limit p_limit;
    else
        return query
        select c.*
          from recall.memory_store as m
         cross join lateral recall._memory_columns(row(m.*), p_as_of) as c
         where m.user_id = p_user_id
           and recall._memory_visible(row(m.*), v_filter, p_as_of)
           and recall._memory_matches(row(m.*), v_filter)
           and (p_after_id is null or (m.created_at, m.memory_id) > (v_after, p_after_id))
         order by m.created_at, m.memory_id
         limit p_limit;
    end if;
end;
$function$;

comment on function recall.get_memories(uuid, jsonb, timestamptz, integer, uuid) is
    'Memories of the user, oldest first; with p_as_of those that were active then. Filter keys: '
    'kinds, kinds_none, tiers, scopes, slots, tags_any, tags_all, provenance, source, '
    'source_session_id, agent_id, session_id, metadata, observed_after, observed_before, '
    'valid_at, include_ended. p_after_id returns the page after that memory.';
