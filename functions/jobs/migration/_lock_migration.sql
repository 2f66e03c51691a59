-- Lock the change of the embedding model that has not ended, and check its state.
-- Locks   the row of the change.
-- Raises  RC007 there is none in one of these states.
create or replace function recall._lock_migration(
    p_states text[]
)
returns recall.embedding_migrations
language plpgsql
volatile
parallel unsafe
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_migration recall.embedding_migrations;
begin
    select m.* into v_migration from recall.embedding_migrations as m where m.ended_at is null
       for update;
    if not found then
        raise exception using
            errcode = 'RC007',
            message = 'the embedding model is not being changed',
            hint    = 'Start it: pgrecall embeddings migrate --to MODEL';
    end if;
    if v_migration.state <> all (p_states) then
        raise exception using
            errcode = 'RC007',
            message = format('the change of the embedding model to %s is %s',
                             v_migration.to_model, v_migration.state),
            hint    = case v_migration.state
                          when 'switched' then format('To go back: pgrecall embeddings migrate '
                                                      '--to %s', v_migration.from_model)
                          when 'cancelling' then 'Wait until maintenance has deleted the new '
                                                 'vectors.'
                          else 'See: pgrecall embeddings status' end;
    end if;
    return v_migration;
end;
$function$;

comment on function recall._lock_migration(text[]) is
    'Lock the change of the embedding model, and check its state (RC007).';
