-- Report disputes: contradictions that wait for a person.
-- It reads the first ten thousand rows of the partial index of disputes. Disputes about memories
-- that have ended since are ignored.
create or replace function recall._health_disputes()
returns table (
    name   text,
    status text,
    detail text,
    hint   text
)
language plpgsql
stable
parallel safe
set search_path to pg_catalog, recall, pg_temp
set enable_seqscan = off
set jit = off
set max_parallel_workers_per_gather = 0
as $function$
declare
    v_now    timestamptz := clock_timestamp();
    v_count  bigint;
    v_users  bigint;
    v_oldest timestamptz;
begin
    select count(*), count(distinct d.user_id), min(d.created_at)
      into v_count, v_users, v_oldest
      from (
            select m.user_id, m.disputes, m.created_at
              from recall.memory_store as m
             where m.disputes is not null
             limit 10000
           ) as d
      join recall.memory_store as t on t.user_id = d.user_id and t.memory_id = d.disputes
     where t.end_reason is null;

    return query
    select 'disputes', case when v_oldest < v_now - interval '30 days' then 'warn' else 'ok' end,
           format('%s contradictions of what %s users said are open, the oldest since %s', v_count,
                  v_users, coalesce(date_trunc('second', v_now - v_oldest)::text, 'no time')),
           case when v_oldest < v_now - interval '30 days'
                then 'Show users what recall.list_disputes(user_id) gives, and settle it with '
                     'recall.resolve_dispute; whose they are: select distinct user_id from '
                     'recall.memory_store where disputes is not null;' end;
end;
$function$;

comment on function recall._health_disputes() is
    'Health of disputes: unresolved contradictions of what users stated.';
