-- Count the jobs of a change of the embedding model by state.
create or replace function recall._migration_jobs(
    p_model       text,
    out o_ready   bigint,
    out o_running bigint,
    out o_dead    bigint,
    out o_oldest  timestamptz
)
language plpgsql
stable
parallel safe
set search_path to pg_catalog, recall, pg_temp
as $function$
begin
    select count(*) filter (where j.state = 'ready'),
           count(*) filter (where j.state = 'running'),
           count(*) filter (where j.state = 'dead'),
           min(j.run_at) filter (where j.state = 'ready')
      into o_ready, o_running, o_dead, o_oldest
      from recall.jobs as j
     where j.kind = 'embed'
       and j.payload ->> 'mode' = p_model;
end;
$function$;

comment on function recall._migration_jobs(text) is
    'Jobs of a change of the embedding model: ready, running and dead ones, and the oldest ready.';
