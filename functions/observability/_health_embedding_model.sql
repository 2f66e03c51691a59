-- Report the embedding model, and the progress of a change of it.
-- It warns when jobs of the change failed, or when no worker has taken one for ten minutes.
create or replace function recall._health_embedding_model()
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
as $function$
declare
    v_settings  recall.settings;
    v_migration record;
    v_until     timestamptz;
    v_waits     boolean;
begin
    select s.* into v_settings from recall.settings as s;
    select * into v_migration
      from recall.get_embedding_migration() as m
     where m.ended_at is null;
    if not found then
        return query
        select 'embedding_model', 'ok',
               format('%s, %s dimensions', v_settings.embedding_model,
                      v_settings.embedding_dimensions),
               null::text;
        return;
    end if;

    v_until := v_migration.switched_at + v_migration.keep_old;
    v_waits := v_migration.state = 'running' and v_migration.jobs_running = 0 and coalesce(
        (recall._migration_jobs(v_migration.to_model)).o_oldest
        < clock_timestamp() - interval '10 minutes', false);
    return query
    select 'embedding_model',
           case when v_migration.state in ('running', 'paused') and v_migration.jobs_dead > 0
                     or v_waits then 'warn' else 'ok' end,
           case v_migration.state
               when 'switched' then format(
                   case when v_until <= clock_timestamp()
                        then '%s since %s; vectors of %s are being deleted'
                        else '%s since %s; vectors of %s are kept until %s' end,
                   v_migration.to_model, date_trunc('second', v_migration.switched_at),
                   v_migration.from_model, date_trunc('second', v_until))
               when 'cancelling' then format('%s; new vectors of %s are being deleted',
                   v_migration.from_model, v_migration.to_model)
               else format('%s, changing to %s (%s): %s %% of %s texts, %s jobs ready, %s failed '
                           'for good',
                   v_migration.from_model, v_migration.to_model, v_migration.state,
                   floor(100 * v_migration.share), v_migration.texts, v_migration.jobs_ready,
                   v_migration.jobs_dead) end,
           case when v_migration.state not in ('running', 'paused') then null
                when v_migration.jobs_dead > 0
                then 'Read recall.jobs.last_error, then: select recall.retry_dead_jobs();'
                when v_waits
                then format('No worker offers %s. Start one: pgrecall worker',
                            v_migration.to_model) end;
end;
$function$;

comment on function recall._health_embedding_model() is
    'Health of the embedding model: the current one, or the progress of a change.';
