-- recall._nearest_memories(…) -> candidates of a search by a vector alone, and the largest count
-- The exact scan of one user's vectors, nearest first, until enough of them are to be seen: close
-- to the bare scan, so it has a statement of its own. Fewer than the limit when vectors are missing
-- or much is hidden.
create or replace function recall._nearest_memories(
    p_user_id   uuid,
    p_embedding halfvec,
    p_limit     integer,
    p_sessions  uuid[],
    p_settings  recall.settings,
    out candidates    recall.memory_candidate[],
    out largest_count integer
)
language plpgsql
stable
parallel safe
set search_path from current
as $function$
begin
    select array_agg(row(n.memory_id, 1 - n.distance, null, greatest(0, 1 - n.distance),
                         null)::recall.memory_candidate),
           max(n.access_count)
      into candidates, largest_count
      from (
            select e.memory_id, e.distance, m.access_count
              from (
                    select v.memory_id, v.embedding <=> p_embedding as distance
                      from recall.memory_embedding as v
                     where v.user_id         = p_user_id
                       and v.embedding_model = p_settings.embedding_model
                     order by distance
                     limit 2 * p_limit::bigint + 50
                   ) as e
             cross join lateral (
                    select s.access_count
                      from recall.memory_store as s
                     where s.user_id   = p_user_id
                       and s.memory_id = e.memory_id
                       and s.ended_at is null
                       and (s.session_id is null or s.session_id = any (p_sessions))
                       and (s.expires_at is null or s.expires_at > now())
                    offset 0
                   ) as m
             order by e.distance
             fetch first p_limit rows with ties
           ) as n;

    if largest_count > 0 then
        select max(s.access_count)
          into largest_count
          from recall.memory_store as s
         where s.user_id = p_user_id
           and s.ended_at is null;
    end if;
end;
$function$;

comment on function recall._nearest_memories(uuid, halfvec, integer, uuid[], recall.settings) is
    'Candidates of a search by a vector alone: the nearest, exactly.';
