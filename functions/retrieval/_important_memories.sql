-- Return the candidates of a search without a query: the most important, then the newest.
-- p_only, when given, restricts them.
create or replace function recall._important_memories(
    p_user_id  uuid,
    p_only     uuid[],
    p_limit    integer,
    p_sessions uuid[],
    p_filter   recall.memory_filter
)
returns recall.found_candidates
language plpgsql
stable
parallel safe
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_found recall.found_candidates;
begin
    with m as materialized (
        select a.memory_id, a.importance, a.created_at, a.access_count
          from recall.memory_store as a
         where p_only is null
           and a.user_id = p_user_id
           and a.ended_at is null
           and (a.session_id is null or a.session_id = any (p_sessions))
           and (a.expires_at is null or a.expires_at > now())
           and recall._staleness_matches(row(a.*), p_filter)
         union all
        select a.memory_id, a.importance, a.created_at, a.access_count
          from recall.memory_store as a
         where p_only is not null
           and a.user_id   = p_user_id
           and a.memory_id = any (p_only)
    )
    select array_agg(row(n.memory_id, null, null, null, null)::recall.memory_candidate),
           (select max(m.access_count) from m)
      into v_found.candidates, v_found.largest_count
      from (
            select m.memory_id
              from m
             order by m.importance desc, m.created_at desc, m.memory_id
             limit p_limit
           ) as n;
    return v_found;
end;
$function$;

comment on function recall._important_memories(uuid, uuid[], integer, uuid[],
    recall.memory_filter) is
    'Candidates of a search without a query: the most important and recent.';
