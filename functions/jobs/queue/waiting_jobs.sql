-- Count the ready jobs by kind: due now, or deferred.
-- It tells an idle worker why jobs wait. In a transaction of one user (recall.user_id) it counts
-- that user's jobs only, as claim_jobs leases them.
-- Cost    one pass over the ready jobs.
create or replace function recall.waiting_jobs()
returns table (
    kind           text,
    mode           text,
    needs_model    boolean,
    due            bigint,
    deferred       bigint,
    deferred_until timestamptz
)
language plpgsql
stable
parallel safe
security definer
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_now  timestamptz := clock_timestamp();
    v_user text        := recall._identity();
begin
    return query
    select j.kind, m.mode, recall._needs_model(j.kind, j.payload),
           count(*) filter (where j.run_at <= v_now),
           count(*) filter (where j.run_at > v_now),
           min(j.run_at) filter (where j.run_at > v_now)
      from recall.jobs as j
     cross join lateral (
               select case when j.kind = 'extract'
                           then coalesce(j.payload ->> 'mode', 'llm') end
           ) as m (mode)
     where j.state = 'ready'
       and (v_user is null or j.user_id::text = v_user)
     group by j.kind, m.mode, recall._needs_model(j.kind, j.payload)
     order by j.kind, m.mode;
end;
$function$;

comment on function recall.waiting_jobs() is
    'Ready jobs by kind and mode: whether they need a language model, how many are due, how many '
    'are deferred, and when the first of those is due. Where recall.user_id is set, the function '
    'counts that user''s jobs only.';
