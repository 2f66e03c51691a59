-- Start to embed all texts by another model, while searches go on with the current one.
-- The maintenance task migrate_embeddings enqueues the jobs, switches the model when no text is
-- left, and deletes the old vectors p_keep after that. A change back to the former model while its
-- vectors are kept reuses them. Without p_dimensions the dimensions stay.
-- Locks   the row of the former change, the settings row.
-- Raises  RC003 a bad value, RC007 another change has not ended, or the model is current.
create or replace function recall.start_embedding_migration(
    p_model      text,
    p_dimensions integer  default null,
    p_keep       interval default '1 day'
)
returns void
language plpgsql
volatile
parallel unsafe
security definer
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_last       recall.embedding_migrations;
    v_settings   recall.settings;
    v_estimate   record;
    v_dimensions integer := p_dimensions;
begin
    select m.* into v_last from recall.embedding_migrations as m where m.ended_at is null
       for update;
    select s.* into v_settings from recall.settings as s for update;
    select * into v_estimate from recall.estimate_embedding_migration(p_model);
    if v_last.migration_id is not null
       and not (v_last.state = 'switched' and v_last.from_model = p_model) then
        raise exception using
            errcode = 'RC007',
            message = format('a change of the embedding model to %s is %s', v_last.to_model,
                             v_last.state),
            hint    = case when v_last.state = 'switched'
                           then 'Wait until its old vectors are deleted (keep_old).'
                           else 'Resume or cancel it: pgrecall embeddings status' end;
    end if;
    if p_model = v_settings.embedding_model then
        raise exception using
            errcode = 'RC007',
            message = format('%s is the embedding model already', p_model),
            hint    = 'Vectors of one model have one number of dimensions; name another model.';
    end if;
    v_dimensions := coalesce(
        v_dimensions, case when p_model = v_last.from_model then v_last.from_dimensions end,
        v_settings.embedding_dimensions);
    if v_dimensions not between 1 and 16000 or p_keep is null or p_keep < interval '0'
       or not isfinite(p_keep)
       or p_model = v_last.from_model and v_dimensions <> v_last.from_dimensions then
        raise exception using
            errcode = 'RC003',
            message = format('p_dimensions is %s, p_keep is %s', v_dimensions,
                             coalesce(p_keep::text, 'null')),
            hint    = 'p_dimensions: 1 to 16000, as the model has; p_keep: an interval from 0 on.';
    end if;

    -- A vector above 3,700 dimensions does not fit a page.
    if v_dimensions > 3700 and exists (
        select
          from pg_catalog.pg_attribute as a
         where a.attrelid = 'recall.memory_embedding'::regclass
           and a.attname    = 'embedding'
           and a.attstorage = 'p'
    ) then
        alter table recall.memory_embedding alter column embedding set storage external;
        alter table recall.memory_embedding_ended alter column embedding set storage external;
    end if;
    update recall.embedding_migrations as m
       set state    = 'done',
           ended_at = clock_timestamp()
     where m.migration_id = v_last.migration_id;
    insert into recall.embedding_migrations (
        migration_id, from_model, from_dimensions, to_model, to_dimensions, state, texts, tokens,
        cost_microcents, keep_old, started_at)
    values (recall.uuidv7(), v_settings.embedding_model, v_settings.embedding_dimensions, p_model,
            v_dimensions, 'running', v_estimate.texts, v_estimate.tokens,
            v_estimate.cost_microcents, p_keep, clock_timestamp());
    update recall.settings as s set hidden_embedding_model = p_model;
end;
$function$;

comment on function recall.start_embedding_migration(text, integer, interval) is
    'Start to embed all texts by another model while searches use the current one. Maintenance '
    'then switches the model, and deletes the old vectors p_keep later. RC003: a bad value. '
    'RC007: another change has not ended, or the model is the current one.';
