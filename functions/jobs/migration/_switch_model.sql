-- Make the new embedding model the current one.
-- One row changes, so every call sees the old model or the new one. A configured cosine of
-- unrelated texts is measured for the new model. With fewer than twenty users it becomes the
-- default. The caller has locked the row of the change.
-- Locks   the settings row.
create or replace function recall._switch_model(
    p_migration recall.embedding_migrations
)
returns void
language plpgsql
volatile
parallel unsafe
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_settings recall.settings;
    v_measured record;
begin
    select s.* into v_settings from recall.settings as s for update;
    if v_settings.configured && '{unrelated_similarity,unrelated_deviation}' then
        select * into v_measured from recall._measure_unrelated(p_migration.to_model);
        if v_measured.o_users >= 20 then
            update recall.settings as s
               set unrelated_similarity = v_measured.o_mean,
                   unrelated_deviation  = v_measured.o_deviation;
        else
            update recall.settings as s
               set unrelated_similarity = default,
                   unrelated_deviation  = default,
                   configured = array(
                       select n.name
                         from unnest(s.configured) as n (name)
                        where n.name not in ('unrelated_similarity', 'unrelated_deviation'));
        end if;
    end if;
    update recall.settings as s
       set embedding_model        = p_migration.to_model,
           embedding_dimensions   = p_migration.to_dimensions,
           hidden_embedding_model = p_migration.from_model,
           configured             = array(
               select n.name
                 from unnest(s.configured || 'embedding_model'::text) as n (name)
                group by n.name
                order by n.name);
    update recall.embedding_migrations as m
       set state       = 'switched',
           switched_at = clock_timestamp(),
           last_user   = null
     where m.migration_id = p_migration.migration_id;
end;
$function$;

comment on function recall._switch_model(recall.embedding_migrations) is
    'Make the new embedding model the current one.';
