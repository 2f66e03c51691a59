-- Store a pattern that a model found in episodes; return true.
-- Nothing is stored without a content (the model saw no pattern) or with too few active episodes.
-- The new text supersedes a known pattern and takes over its episodes and solutions. A pattern that
-- the user corrected stays, and the new text is disputed.
-- Locks   the user, the memories.
-- Raises  RC003 a text that cannot be stored.
create or replace function recall._finish_pattern(
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
    v_settings  recall.settings := recall._settings(p_job.user_id);
    v_content   jsonb           := nullif(p_result -> 'content', 'null');
    v_embedding recall.memory_embedding.embedding%type := p_job.vectors[1];
    v_episodes  recall.memory_store[];
    v_known     recall.memory_store;
begin
    if v_content is not null then
        perform recall._check_candidates(
            jsonb_build_array(p_result - '{solutions,pattern_id}'::text[]), 'pattern',
            '{}', v_settings);
    end if;
    perform recall._lock_user_and_bump_revision(p_job.user_id);
    v_episodes := recall._active_episodes(
        p_job.user_id, recall._payload_memories(p_job.payload), v_settings);

    if v_content is not null and v_episodes <> '{}' then
        if p_result ->> 'pattern_id' is not null then
            v_known := recall._end_of_chain(p_job.user_id, (p_result ->> 'pattern_id')::uuid);
        end if;
        if v_known.ended_at is not null or v_known.kind is distinct from 'pattern' then
            v_known := recall._known_pattern(p_job.user_id, v_episodes, v_settings,
                                             p_result ->> 'content');
        end if;
        perform from recall._place_memory(
            recall._pattern_memory(v_episodes, v_known, p_result, v_settings),
            v_embedding, v_settings.embedding_model, v_settings, v_known, p_job.job_id,
            p_is_edit => v_known.memory_id is not null);
        perform recall._end_consolidation(p_job, v_settings, v_embedding is not null);
    else
        perform recall._count_memories(p_job.user_id, 0, p_pattern_due => true);
    end if;
    return true;
end;
$function$;

comment on function recall._finish_pattern(recall.jobs, jsonb) is
    'Store a recurring pattern with its episodes and their solutions.';
