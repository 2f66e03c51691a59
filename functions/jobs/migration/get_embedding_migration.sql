-- Return the latest change of the embedding model, with its progress; no row before the first.
-- share is the part that is done: of the texts until the switch, then 1.
create or replace function recall.get_embedding_migration()
returns table (
    from_model      text,
    from_dimensions integer,
    to_model        text,
    to_dimensions   integer,
    state           text,
    texts           bigint,
    embedded        bigint,
    share           double precision,
    tokens          bigint,
    cost_microcents bigint,
    passes          integer,
    jobs_ready      bigint,
    jobs_running    bigint,
    jobs_dead       bigint,
    keep_old        interval,
    started_at      timestamptz,
    switched_at     timestamptz,
    ended_at        timestamptz
)
language plpgsql
stable
parallel safe
security definer
set search_path to pg_catalog, recall, pg_temp
as $function$
begin
    return query
    select m.from_model, m.from_dimensions, m.to_model, m.to_dimensions, m.state, m.texts,
           m.embedded,
           case when m.state in ('switched', 'done') then 1
                else least(0.999, m.embedded::double precision / greatest(m.texts, 1)) end,
           m.tokens, m.cost_microcents, m.passes, j.o_ready, j.o_running, j.o_dead, m.keep_old,
           m.started_at, m.switched_at, m.ended_at
      from recall.embedding_migrations as m
     cross join lateral recall._migration_jobs(m.to_model) as j
     order by m.started_at desc, m.migration_id desc
     limit 1;
end;
$function$;

comment on function recall.get_embedding_migration() is
    'The latest change of the embedding model: models, state (running, paused, switched, '
    'cancelling, done, cancelled), progress, jobs, and estimated cost. No row before the first '
    'change.';
