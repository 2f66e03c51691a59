-- Store the memories that a model consolidated; return true.
-- Each merge is applied on its own, and skipped if one of its parts has changed. Refused merges go
-- into the audit of their memories. The user is due again: large sets take several steps.
-- Locks   the user, the memories.
-- Raises  RC003 a text that cannot be stored.
create or replace function recall._finish_merge(
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
    v_settings   recall.settings := recall._settings(p_job.user_id);
    v_merges     jsonb;
    v_embeddings recall.memory_embedding.embedding%type[];
    v_merge      jsonb;
begin
    perform recall._check_candidates((
                select coalesce(jsonb_agg(m.merge - 'memory_ids' order by m.place), '[]')
                  from jsonb_array_elements(p_result -> 'merges')
                       with ordinality as m (merge, place)), 'merges', '{}', v_settings);
    v_merges     := recall._masked_json(p_result -> 'merges', v_settings);
    v_embeddings := recall._candidate_embeddings(
        v_merges, case when p_result ->> 'embedding_model' = v_settings.embedding_model
                         then p_job.vectors end, v_settings);
    perform recall._lock_user_and_bump_revision(p_job.user_id);

    for v_place in 1 .. jsonb_array_length(v_merges) loop
        v_merge := v_merges -> (v_place - 1);
        perform recall._merge_memories(
            p_job.user_id, p_job.payload ->> 'kind', recall._payload_memories(v_merge),
            v_merge ->> 'content', v_embeddings[v_place], v_settings, p_job.job_id);
    end loop;

    for v_merge in
        select r.merge
          from jsonb_array_elements(recall._masked_json(p_result -> 'refused', v_settings))
               as r (merge)
    loop
        perform recall._log_events(
            p_job.user_id, recall._payload_memories(v_merge), 'merge_refused',
            array[v_merge - 'memory_ids'], p_job.job_id);
    end loop;

    perform recall._end_consolidation(p_job, v_settings, coalesce(
        p_result ->> 'embedding_model' = v_settings.embedding_model, false));
    return true;
end;
$function$;

comment on function recall._finish_merge(recall.jobs, jsonb) is
    'Store the memories that a model consolidated; unfaithful texts are logged as merge_refused.';
