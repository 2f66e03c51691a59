-- Return a user's latest episodes, the latest first.
-- Those with a vector, or all when none has one, as for a user without an embedding model.
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
set search_path to pg_catalog, recall, pg_temp
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set jit = off
as $function$
declare
    v_most     constant integer := 200;
    v_all      uuid[];
    v_embedded uuid[];
begin
    with episodes as materialized (
        select m.memory_id, m.observed_at,
               exists (
                   select from recall.memory_embedding as e
                    where e.user_id         = p_user_id
                      and e.memory_id       = m.memory_id
                      and e.embedding_model = p_settings.embedding_model) as is_embedded
          from recall.memory_store as m
         where m.user_id = p_user_id
           and m.ended_at is null
           and m.kind  = 'episode'
           and m.scope = 'global'
           and m.observed_at between p_now - p_settings.pattern_within and p_now
           and (m.expires_at is null or m.expires_at > p_now)
           and m.memory_id <> all (p_taken)
         order by m.observed_at desc, m.memory_id desc
         limit v_most
    )
    select array_agg(e.memory_id order by e.observed_at desc, e.memory_id desc),
           array_agg(e.memory_id order by e.observed_at desc, e.memory_id desc)
               filter (where e.is_embedded)
      into v_all, v_embedded
      from episodes as e;
    return coalesce(v_embedded, v_all, '{}');
end;
$function$;

comment on function recall._recent_episodes(uuid, timestamptz, uuid[], recall.settings) is
    'A user''s latest episodes within settings.pattern_within, at most 200.';
