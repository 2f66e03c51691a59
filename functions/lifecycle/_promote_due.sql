-- Promote those of one user's flagged memories that have earned it, by one tier each.
-- The row itself decides. Promotion does not extend the lifetime of a kind, except of episodes,
-- which live as long as their tier. A memory that has not earned it loses its flag: utility only
-- falls until the next access, which sets the flag again.
-- Locks   the user's row, if it is free (0 when it is not); then the memories.
create or replace function recall._promote_due(
    p_user_id    uuid,
    p_memory_ids uuid[],
    p_now        timestamptz,
    out o_looked integer,
    out o_done   integer
)
language plpgsql
volatile
parallel unsafe
set search_path to pg_catalog, recall, pg_temp
set plan_cache_mode = force_generic_plan
as $function$
declare
    v_settings recall.settings;
    v_promoted uuid[];
    v_details  jsonb[];
begin
    o_looked := 0;
    o_done   := 0;
    if not recall._try_lock_user_and_bump_revision(p_user_id) then
        return;
    end if;
    v_settings := recall._settings(p_user_id);
    o_looked   := cardinality(p_memory_ids);

    with earned as (
        select m.memory_id, m.tier as old_tier, m.access_count,
               case when m.kind <> 'episode' then m.created_at + k.lifetime end as ends,
               case when t.tier = 'semantic' and k.is_behavioral then 'procedural'
                    else t.tier end::recall.memory_tier as tier
          from recall.memory_store as m
         cross join lateral (
                select recall._promotion_target(row(m.*), p_now, v_settings)
               ) as t (tier)
          left join recall.memory_kinds as k on k.kind = m.kind
         where m.user_id   = p_user_id
           and m.memory_id = any (p_memory_ids)
           and m.end_reason is null
           and (m.expires_at is null or m.expires_at > p_now)
           and t.tier is not null
    ), promoted as (
        update recall.memory_store as m
           set tier            = e.tier,
               scope           = 'global',
               session_id      = null,
               follows_session = false,
               is_validated    = true,
               expires_at      = least(e.ends, case when e.tier = 'episodic'
                                                    then p_now + v_settings.episode_lifetime end),
               updated_at      = p_now
          from earned as e
         where m.user_id   = p_user_id
           and m.memory_id = e.memory_id
    )
    select coalesce(array_agg(e.memory_id), '{}'),
           array_agg(jsonb_build_object('from', e.old_tier, 'to', e.tier,
                                        'accesses', e.access_count))
      into v_promoted, v_details
      from earned as e;
    perform recall._log_events(p_user_id, v_promoted, 'promoted', v_details);

    update recall.memory_store as m
       set promotion_due = false
     where m.user_id   = p_user_id
       and m.memory_id = any (p_memory_ids)
       and m.memory_id <> all (v_promoted)
       and m.promotion_due;
    o_done := cardinality(v_promoted);
end;
$function$;

comment on function recall._promote_due(uuid, uuid[], timestamptz) is
    'Promote those of one user''s memories that have earned it, and clear the flag of the others.';
