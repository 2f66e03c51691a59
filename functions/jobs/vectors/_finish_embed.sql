-- Store the vectors of an embed job; return false when the session has changed meanwhile.
-- It enqueues another job for more texts only if this one made progress: texts that a model cannot
-- embed would keep workers busy for ever.
-- Locks   the user, the session, the memories.
-- Raises  RC004 settings name another embedding model since the vectors were made.
create or replace function recall._finish_embed(
    p_job    recall.jobs,
    p_result jsonb
)
returns boolean
language plpgsql
volatile
parallel unsafe
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_settings      recall.settings := recall._settings(p_job.user_id);
    v_texts         constant jsonb   := p_result -> 'texts';
    v_has_memories  constant boolean := v_texts @? '$[*] ? (@ starts with "memories ")';
    v_has_summaries constant boolean := v_texts @? '$[*] ? (@ starts with "summaries ")';
    v_more          boolean := false;
    v_vector        record;
begin
    if p_job.payload ? 'mode' then
        perform recall._finish_migration_job(p_job, v_settings);
        return true;
    end if;
    -- Vectors of different models must never be compared.
    if p_result ->> 'embedding_model' <> v_settings.embedding_model then
        raise exception using
            errcode = 'RC004',
            message = format('the vectors are of model %s, but settings.embedding_model is %s',
                             left(p_result ->> 'embedding_model', 80),
                             v_settings.embedding_model),
            hint    = 'Start the worker with the model of the settings, or change the settings.';
    end if;
    if p_job.session_id is not null and v_settings.embed_messages then
        v_more := recall._index_messages(
            recall._lock_session(p_job.user_id, p_job.session_id),
            (p_result ->> 'through_turn')::integer, v_texts, p_job.vectors, v_settings);
        if v_more is null then
            return false;
        end if;
    end if;

    if v_has_memories then
        perform recall._lock_user_and_bump_revision(p_job.user_id);
    end if;
    for v_vector in
        select split_part(t.name, ' ', 2)::uuid as memory_id, t.place::integer
          from jsonb_array_elements_text(v_texts) with ordinality as t (name, place)
         where t.name like 'memories %'
         order by memory_id
    loop
        perform recall._embed_if_wanted(p_job, v_vector.memory_id, v_vector.place, v_settings);
    end loop;

    if v_has_summaries then
        perform recall._embed_summaries(p_job.user_id, v_texts, p_job.vectors, v_settings);
        v_more := v_more or exists (
            select from recall._unembedded_summaries(p_job.user_id, v_settings) as u
             where not v_texts ? ('summaries ' || u.summary_id));
    end if;

    if v_more or v_has_memories
                 and recall._has_unembedded(p_job.user_id, v_settings.embedding_model) then
        perform recall._enqueue_job(p_job.user_id, 'embed', p_job.session_id, p_job.dedupe_key);
    end if;
    return true;
end;
$function$;

comment on function recall._finish_embed(recall.jobs, jsonb) is
    'Store the vectors of a leased embed job, and enqueue another one when more texts wait.';
