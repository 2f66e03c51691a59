-- Set an expiry on unimportant memories that nobody has used for settings.decay_idle.
-- A later use takes the expiry back: see recall._set_due_columns.
create or replace function recall._decay_idle(
    p_user_id    uuid,
    p_memory_ids uuid[],
    p_now        timestamptz,
    p_settings   recall.settings
)
returns integer
language plpgsql
volatile
parallel unsafe
set search_path to pg_catalog, recall, pg_temp
set plan_cache_mode = force_generic_plan
as $function$
declare
    v_expires timestamptz := p_now + p_settings.decay_lifetime;
    v_decayed uuid[];
    v_details jsonb[];
begin
    with decayed as (
        update recall.memory_store as m
           set expires_at  = v_expires,
               is_decaying = true,
               updated_at  = p_now
         where m.user_id   = p_user_id
           and m.memory_id = any (p_memory_ids)
           and m.end_reason is null
           and m.expires_at is null
           and m.importance < p_settings.decay_importance
           -- The sum of recall._next_check: a month back from now is another time.
           and coalesce(m.last_accessed_at, m.created_at) + p_settings.decay_idle <= p_now
        returning m.memory_id, m.importance
    )
    select coalesce(array_agg(d.memory_id), '{}'),
           array_agg(jsonb_build_object('expires_at', v_expires, 'importance', d.importance))
      into v_decayed, v_details
      from decayed as d;
    perform recall._log_events(p_user_id, v_decayed, 'decayed', v_details);
    return cardinality(v_decayed);
end;
$function$;

comment on function recall._decay_idle(uuid, uuid[], timestamptz, recall.settings) is
    'Set an expiry on unimportant memories that nobody has used for long. Returns how many.';
