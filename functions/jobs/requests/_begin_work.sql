-- Return the state of a leased job: what the worker offers, and what its steps have made so far.
-- The answers of models outlive a lease. The worker's offer, the request in flight and the limits
-- learned from the endpoint do not.
-- Raises  RC003 p_worker does not describe a worker.
create or replace function recall._begin_work(
    p_job    recall.jobs,
    p_worker jsonb
)
returns jsonb
language plpgsql
stable
parallel safe
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_work      jsonb := coalesce(p_job.work, '{}');
    v_settings  constant recall.settings := recall._settings(p_job.user_id);
    v_is_sealed constant boolean := v_settings.has_sealed_users
                                    and recall._is_sealed_user(p_job.user_id);
    -- An embed job of a change of the model names the new one.
    v_embedder  constant text    := coalesce(
        case when p_job.kind = 'embed' then p_job.payload ->> 'mode' end,
        v_settings.embedding_model);
begin
    if v_work ->> 'lease' is distinct from p_job.lease_token::text then
        v_work := jsonb_build_object(
            'lease', p_job.lease_token, 'worker', '{}'::jsonb, 'windows', '{}'::jsonb,
            'tries', 0, 'shrinks', 0, 'made', '{}'::jsonb)
            || coalesce(recall._kept_work(v_work), '{}');
    end if;
    if jsonb_strip_nulls(p_worker) <> v_work -> 'worker' then
        perform recall._check_worker(p_worker);
        v_work := v_work || jsonb_build_object('worker', jsonb_strip_nulls(p_worker));
    end if;
    -- Drop the vectors when settings name another embedding model by now.
    if v_work ->> 'embedder' <> v_embedder then
        v_work := (v_work - '{embedder,token_counts}'::text[])
                  || jsonb_build_object('made', (v_work -> 'made') - 'done');
    end if;
    return v_work || jsonb_build_object(
        'is_sealed', v_is_sealed,
        'embedding_model', v_embedder,
        'dimensions', recall._model_dimensions(v_embedder, v_settings),
        'has_embedder', coalesce(v_work #>> '{worker,embedding_model}' = v_embedder, false)
                        or coalesce(v_work #> '{worker,embedding_models}' ? v_embedder, false),
        'has_vectors', not v_is_sealed or recall._has_vectors(p_job.user_id));
end;
$function$;

comment on function recall._begin_work(recall.jobs, jsonb) is
    'State of a leased job: lease, worker, windows, tries, shrinks, made, embedder, '
    'token_counts, embedding_model, dimensions, has_embedder, question.';
