-- recall._decay_idle(user, memories, now, settings) -> how many
-- Unimportant, without an expiry, and untouched for long: some months are left to it,
-- unless it is used again: see recall._note_due_memory.
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
set search_path from current
set plan_cache_mode = force_generic_plan
as $function$
declare
    v_at      timestamptz := clock_timestamp();
    v_expires timestamptz := p_now + p_settings.decay_lifetime;
    v_count   integer;
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
           and coalesce(m.last_accessed_at, m.created_at) <= p_now - p_settings.decay_idle
        returning m.memory_id, m.importance
    )
    insert into recall.memory_events (user_id, memory_id, at, event, caller, detail)
    select p_user_id, d.memory_id, v_at, 'decayed', session_user,
           jsonb_build_object('expires_at', v_expires, 'importance', d.importance)
      from decayed as d;

    get diagnostics v_count = row_count;
    return v_count;
end;
$function$;

comment on function recall._decay_idle(uuid, uuid[], timestamptz, recall.settings) is
    'Give unimportant memories that nobody touches an expiry.';
