-- recall._recent_episodes(user, now, taken, settings) -> episodes with a vector, the latest first
create or replace function recall._recent_episodes(
    p_user_id  uuid,
    p_now      timestamptz,
    p_taken    uuid[],
    p_settings recall.settings
)
returns uuid[]
language plpgsql
stable
parallel safe
set search_path from current
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set jit = off
as $function$
begin
    return array(
        select m.memory_id
          from recall.memory_store as m
         where m.user_id = p_user_id
           and m.ended_at is null
           and m.kind  = 'episode'
           and m.scope = 'global'
           and m.observed_at between p_now - p_settings.pattern_within and p_now
           and (m.expires_at is null or m.expires_at > p_now)
           and m.memory_id <> all (p_taken)
           and exists (
                   select from recall.memory_embedding as e
                    where e.user_id         = p_user_id
                      and e.memory_id       = m.memory_id
                      and e.embedding_model = p_settings.embedding_model)
         order by m.observed_at desc, m.memory_id desc
         limit p_settings.pattern_candidates);
end;
$function$;

comment on function recall._recent_episodes(uuid, timestamptz, uuid[], recall.settings) is
    'A user''s embedded episodes within settings.pattern_within, at most pattern_candidates.';
