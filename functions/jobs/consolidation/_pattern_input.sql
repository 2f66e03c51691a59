-- Return the similar episodes of a pattern job, oldest first, and the pattern they already have.
-- Ended episodes are left out; the list is empty below settings.pattern_episodes. `pattern` is the
-- known pattern, which the model rewrites, or null.
create or replace function recall._pattern_input(
    p_user_id uuid,
    p_payload jsonb
)
returns jsonb
language plpgsql
stable
parallel safe
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_settings recall.settings       := recall._settings(p_user_id);
    v_episodes recall.memory_store[] := recall._active_episodes(
        p_user_id, recall._payload_memories(p_payload), v_settings);
    v_pattern  recall.memory_store   := recall._known_pattern(p_user_id, v_episodes, v_settings);
begin
    return jsonb_build_object(
        'episodes', (
            select coalesce(jsonb_agg(jsonb_build_object(
                       'memory_id', e.memory_id, 'content', e.content,
                       'observed_at', to_char(e.observed_at at time zone 'UTC', 'YYYY-MM-DD'))
                       order by e.observed_at, e.memory_id), '[]')
              from unnest(v_episodes) as e),
        'pattern', case when v_pattern.memory_id is not null then jsonb_build_object(
            'memory_id', v_pattern.memory_id, 'content', v_pattern.content,
            'solutions', coalesce(v_pattern.metadata -> 'solutions', '[]')) end);
end;
$function$;

comment on function recall._pattern_input(uuid, jsonb) is
    'Input of a pattern: model, episodes (memory_id, content, observed_at), and the known '
    'pattern (memory_id, content, solutions) or null.';
