-- Return the names of overrides that weaken these settings.
-- Weaker means: a secret is stored, a text goes to a model, is kept longer or trusted more readily,
-- or a limit is raised. A setting that no list below names counts as weaker when it differs.
create or replace function recall._weaker_settings(
    p_settings  recall.settings,
    p_overrides jsonb
)
returns text[]
language plpgsql
stable
parallel safe
set search_path to pg_catalog, recall, pg_temp
set plan_cache_mode = force_custom_plan
as $function$
declare
    v_new     constant recall.settings := jsonb_populate_record(p_settings, p_overrides);
    v_old_row constant jsonb           := to_jsonb(p_settings);
    v_new_row constant jsonb           := to_jsonb(v_new);
    -- Not a policy: batch sizes, ranking, contents of contexts.
    v_free    constant text[]          := array[
        'embed_batch', 'language', 'prompt_language', 'default_context_window',
        'default_max_response_tokens', 'tokens_per_message', 'tokens_per_image',
        'extract_after_turns', 'extract_after_idle', 'extract_batch', 'max_facts_per_turn',
        'summarize_after_turns', 'verbatim_min_words', 'memory_max_characters',
        'near_duplicate_distance', 'merge_above', 'merge_batch', 'pattern_episodes',
        'pattern_within', 'pattern_similarity', 'pattern_deviations', 'scoring',
        'classic_similarity_weight', 'classic_freshness_weight', 'classic_frequency_weight',
        'classic_authority_weight', 'freshness_decay_per_hour', 'hybrid_similarity_weight',
        'hybrid_lexical_weight', 'hybrid_freshness_weight', 'hybrid_frequency_weight',
        'hybrid_authority_weight', 'decay_mode', 'decay_per_day', 'semantic_candidates',
        'lexical_candidates', 'frequent_candidates', 'exact_search_limit', 'rerank_candidates',
        'message_length_penalty', 'message_neighbor_weight', 'message_second_neighbor_weight',
        'message_session_weight', 'message_memory_weight', 'message_speaker_weight',
        'message_feedback_weight', 'date_weight', 'time_zone', 'recalled_turns',
        'continuation_memory_share', 'cache_stable_memory_tokens', 'compaction_threshold',
        'compaction_keep'];
    -- Weaker when longer.
    v_longer  constant text[]          := array[
        'session_ttl', 'receipt_ttl', 'session_memory_grace', 'episode_lifetime',
        'verbatim_lifetime', 'working_ttl', 'demotion_age', 'decay_idle', 'decay_lifetime',
        'history_retention', 'phase_retention', 'ledger_retention', 'ended_vector_retention',
        'message_search_retention', 'future_skew'];
    -- Weaker when higher; NULL is unlimited.
    v_higher  constant text[]          := array[
        'message_max_characters', 'source_memories_per_hour', 'daily_user_cost_limit_microcents',
        'user_cost_limit_microcents', 'pattern_jobs_per_day', 'ledger_max_body', 'job_max_attempts',
        'demotion_accesses_per_hour'];
    v_lower   constant text[]          := array[
        'durable_confidence', 'episodic_promotion_accesses', 'durable_promotion_accesses',
        'decay_importance', 'review_first_sessions'];
    v_false   constant text[]          := array['protect_user_stated', 'drop_expired_history'];
    -- From the strictest to the weakest value.
    v_ranks   constant jsonb           := jsonb '{
        "secrets": ["refuse", "mask", "keep"],
        "extraction": ["none", "verbatim", "llm"],
        "summaries": ["none", "llm"],
        "extracted_tier": ["session", "semantic"],
        "ledger": ["off", "calls", "streams"],
        "embed_messages": [false, true]}';
begin
    return array(
        select k.name
          from jsonb_object_keys(p_overrides) as k (name)
         cross join lateral (select v_old_row -> k.name, v_new_row -> k.name,
                                    v_old_row ->> k.name, v_new_row ->> k.name)
                 as v (old_item, new_item, old_text, new_text)
         where v.new_item is distinct from v.old_item
           and case
                   when k.name = any (v_free) then false
                   when k.name = any (v_longer) then v.new_text::interval > v.old_text::interval
                   when k.name = any (v_higher)
                       then v.new_text is null or v.new_text::numeric > v.old_text::numeric
                   when k.name = any (v_lower) then v.new_text::numeric < v.old_text::numeric
                   when k.name = any (v_false) then v.new_item = 'false'
                   when k.name = 'secret_classes'
                       then not v_new.secret_classes @> p_settings.secret_classes
                   when v_ranks ? k.name then
                       (select array_position(array_agg(r.item order by r.place), v.new_item)
                                   > array_position(array_agg(r.item order by r.place), v.old_item)
                          from jsonb_array_elements(v_ranks -> k.name) with ordinality
                                   as r (item, place))
                   else true
               end
         order by k.name);
end;
$function$;

comment on function recall._weaker_settings(recall.settings, jsonb) is
    'Which overrides weaken these settings: secrets, models, retention, trust, limits.';
