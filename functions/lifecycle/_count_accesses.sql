-- Add one user's logged accesses to the counters of their memories, and return how many.
-- Memories are read by their key: a join would read all memories of the user.
-- Locks   the user's row, if it is free (0 when it is not); then the memories.
create or replace function recall._count_accesses(
    p_user_id uuid,
    p_limit   integer,
    p_until   timestamptz
)
returns integer
language plpgsql
volatile
parallel unsafe
set search_path to pg_catalog, recall, pg_temp
set plan_cache_mode = force_generic_plan
set enable_hashjoin = off
set enable_mergejoin = off
set jit = off
as $function$
declare
    v_count  integer;
    v_logged record;
begin
    perform from recall.users as u
      where u.user_id = p_user_id
        for no key update skip locked;
    if not found then
        return 0;
    end if;

    if recall._is_distributed() then
        -- Citus plans no statement that changes two tables by one another.
        v_count := 0;
        for v_logged in
            with taken as (
                delete from recall.memory_access_log as l
                 where l.user_id      = p_user_id
                   and l.accessed_at <= p_until
                returning l.memory_id, l.relevance, l.accessed_at
            )
            select t.memory_id, count(*)::integer as accesses, sum(t.relevance)::real as relevance,
                   max(t.accessed_at) as last_at
              from taken as t
             group by t.memory_id
        loop
            update recall.memory_store as m
               set access_count          = m.access_count + v_logged.accesses,
                   relevance_accumulator = m.relevance_accumulator + v_logged.relevance,
                   last_accessed_at      = greatest(m.last_accessed_at, v_logged.last_at)
             where m.user_id   = p_user_id
               and m.memory_id = v_logged.memory_id
               and m.end_reason is null;
            v_count := v_count + v_logged.accesses;
        end loop;
        return v_count;
    end if;

    with taken as (
        delete from recall.memory_access_log as l
         where l.ctid = any (array(
                   select d.ctid
                     from recall.memory_access_log as d
                    where d.user_id      = p_user_id
                      and d.accessed_at <= p_until
                    order by d.accessed_at
                    limit p_limit))
        returning l.memory_id, l.relevance, l.accessed_at
    ), counted as (
        update recall.memory_store as m
           set access_count          = m.access_count + a.accesses,
               relevance_accumulator = m.relevance_accumulator + a.relevance,
               last_accessed_at      = greatest(m.last_accessed_at, a.last_at)
          from (
                select t.memory_id, count(*)::integer as accesses,
                       sum(t.relevance)::real as relevance, max(t.accessed_at) as last_at
                  from taken as t
                 group by t.memory_id
               ) as a
         where m.user_id   = p_user_id
           and m.memory_id = a.memory_id
           and m.end_reason is null
    )
    select count(*) into v_count from taken;
    return v_count;
end;
$function$;

comment on function recall._count_accesses(uuid, integer, timestamptz) is
    'Count one user''s logged accesses; 0 while another transaction has locked the user''s row.';
