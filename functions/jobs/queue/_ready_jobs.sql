-- List ready jobs that a claim may take, without a lock, for Citus.
-- The conditions are those of claim_jobs. The limit bounds what the coordinator reads at once.
create or replace function recall._ready_jobs(
    p_kinds   text[],
    p_user    text,
    p_current text,
    p_now     timestamptz,
    p_until   timestamptz,
    p_limit   bigint
)
returns setof recall.jobs
language plpgsql
stable
parallel safe
set search_path to pg_catalog, recall, pg_temp
as $function$
begin
    return query
    select j.*
      from recall.jobs as j
     where j.state = 'ready'
       and j.run_at <= p_until
       and (j.run_at <= p_now or j.kind = 'extract' and j.last_error is null)
       and (p_user is null or j.user_id::text = p_user)
       and ((p_kinds is null or j.kind = any (p_kinds))
            and (j.kind <> 'embed' or j.payload ->> 'mode' is null
                 or j.payload ->> 'mode' = p_current)
            or j.kind || ':' || coalesce(j.payload ->> 'mode',
                                          case j.kind when 'extract' then 'llm' end)
               = any (p_kinds))
     order by j.priority, j.run_at
     limit p_limit;
end;
$function$;

comment on function recall._ready_jobs(text[], text, text, timestamptz, timestamptz, bigint) is
    'Ready jobs that a claim may take, not locked.';
