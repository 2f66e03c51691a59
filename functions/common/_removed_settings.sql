-- Return the settings of older versions that are constants now, and the function that holds each.
-- configure refuses them, an upgrade drops their columns and overrides, and import_user leaves
-- them out.
create or replace function recall._removed_settings()
returns table (
    name  text,
    value text,
    place text
)
language sql
immutable
parallel safe
as $function$
    values ('achieved_goal_importance', '0.2', '_achieve_goal'),
           ('bullets_max_characters', '900', '_context_limits'),
           ('cache_stable_step', '0.5', '_fit_history'),
           ('consolidation_neighbors', '5', '_neighbors_json'),
           ('consolidation_similarity', '0.3', '_neighbors_json'),
           ('durable_promotion_decay', '0.001', '_promotion_target'),
           ('durable_promotion_utility', '0.5', '_promotion_target'),
           ('episodic_promotion_decay', '0.01', '_promotion_target'),
           ('episodic_promotion_utility', '0.3', '_promotion_target'),
           ('feedback_turns', '10', '_score_turns'),
           ('feedback_words', '10', '_score_turns'),
           ('job_backoff_base', '00:00:10', '_backoff'),
           ('job_backoff_cap', '01:00:00', '_backoff'),
           ('knowledge_memory_share', '0.4', '_context_shares'),
           ('lexical_length_penalty', '0.01', '_match_words'),
           ('new_session_memory_share', '0.5', '_context_shares'),
           ('pattern_baseline', '8', '_episode_links'),
           ('pattern_candidates', '200', '_recent_episodes'),
           ('query_words', '64', '_query_words'),
           ('recalled_max_characters', '600', '_quote_line'),
           ('recalled_similarity', '0.3', '_recalled_turns'),
           ('session_turn_weight', '0.5', '_rank_sessions'),
           ('split_episodes', '4', '_context_limits'),
           ('split_facts', '4', '_context_limits'),
           ('tool_heavy_memory_share', '0.1', '_context_shares'),
           ('tool_heavy_working_share', '0.2', '_context_shares'),
           ('top_memories', '20', '_context_limits'),
           ('trigram_rows', '500', '_similar_words'),
           ('trigram_threshold', '0.3', '_similar_words');
$function$;

comment on function recall._removed_settings() is
    'Settings of older versions that are constants now, with value and function.';
