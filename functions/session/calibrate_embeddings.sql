-- Measure the cosine similarity of unrelated texts, and store it in the settings.
-- Call it once the embedding model is chosen and users have memories. `configure` can also set
-- unrelated_similarity and unrelated_deviation, from which `match` is computed. Nothing but these
-- two numbers is stored.
-- Locks   the settings row.
-- Raises  RC007 fewer than twenty users have vectors of the model.
create or replace function recall.calibrate_embeddings()
returns table (
    embedding_model      text,
    unrelated_similarity real,
    unrelated_deviation  real,
    pairs                bigint
)
language plpgsql
volatile
parallel unsafe
security definer
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_settings recall.settings;
    v_users    bigint;
begin
    select s.* into v_settings from recall.settings as s for update;

    select u.o_users, v_settings.embedding_model, u.o_mean, u.o_deviation, u.o_pairs
      into v_users, embedding_model, unrelated_similarity, unrelated_deviation, pairs
      from recall._measure_unrelated(v_settings.embedding_model) as u;

    if v_users < 20 then
        raise exception using
            errcode = 'RC007',
            message = format('vectors of %s belong to %s users', v_settings.embedding_model,
                             case when pairs = 0 then 'fewer than 2' else v_users::text end),
            hint    = 'Unrelated texts are taken from twenty users or more; set '
                      'unrelated_similarity and unrelated_deviation by recall.configure.';
    end if;
    perform recall._write_settings(v_settings, jsonb_build_object(
        'unrelated_similarity', unrelated_similarity,
        'unrelated_deviation', unrelated_deviation));
    return next;
end;
$function$;

comment on function recall.calibrate_embeddings() is
    'Measure the cosine similarity of unrelated texts under the embedding model, and store mean '
    'and deviation in the settings, from which match is computed. RC007: fewer than twenty users '
    'have vectors of the model.';
