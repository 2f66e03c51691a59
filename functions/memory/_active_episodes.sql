-- Return those of some episodes that are active, oldest first.
-- The result is empty when they are too few for a pattern (settings.pattern_episodes).
create or replace function recall._active_episodes(
    p_user_id  uuid,
    p_episodes uuid[],
    p_settings recall.settings
)
returns recall.memory_store[]
language plpgsql
stable
parallel safe
set search_path to pg_catalog, recall, pg_temp
set plan_cache_mode = force_generic_plan
as $function$
declare
    v_episodes recall.memory_store[] := array(
        select row(m.*)::recall.memory_store
          from recall.memory_store as m
         where m.user_id   = p_user_id
           and m.memory_id = any (p_episodes)
           and m.end_reason is null
           and m.kind = 'episode'
         order by m.observed_at, m.memory_id);
begin
    if cardinality(v_episodes) < p_settings.pattern_episodes then
        return '{}'::recall.memory_store[];
    end if;
    return v_episodes;
end;
$function$;

comment on function recall._active_episodes(uuid, uuid[], recall.settings) is
    'Those of some episodes that are active, if they are enough for a pattern.';
