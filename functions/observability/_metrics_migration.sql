-- Return the progress of a change of the embedding model that has not ended; else no row.
-- The share counts texts until the switch. Afterwards it is 1, while old vectors are kept or
-- deleted.
create or replace function recall._metrics_migration()
returns table (
    name   text,
    value  double precision,
    labels jsonb
)
language plpgsql
stable
parallel safe
set search_path to pg_catalog, recall, pg_temp
as $function$
begin
    return query
    select v.name, v.value,
           jsonb_strip_nulls(jsonb_build_object('from', m.from_model, 'to', m.to_model,
                                                'state', v.state))
      from recall.get_embedding_migration() as m
     cross join lateral (
            values ('pgrecall_embedding_migration_share', m.share, m.state),
                   ('pgrecall_embedding_migration_texts', m.texts::float8, null),
                   ('pgrecall_embedding_migration_embedded', m.embedded::float8, null),
                   ('pgrecall_embedding_migration_jobs', m.jobs_ready::float8, 'ready'),
                   ('pgrecall_embedding_migration_jobs', m.jobs_running::float8, 'running'),
                   ('pgrecall_embedding_migration_jobs', m.jobs_dead::float8, 'dead')
           ) as v (name, value, state)
     where m.ended_at is null;
end;
$function$;

comment on function recall._metrics_migration() is
    'Metrics of a change of the embedding model: share, texts and jobs; none without a change.';
