-- Return the number of the event that this one was chained to, or NULL.
-- It computes one hash for each event of the user.
-- Cost: a hash for each event of the user.
create or replace function recall._followed_event(
    p_user_id uuid,
    p_event   recall.memory_events
)
returns bigint
language plpgsql
stable
parallel safe
set search_path from current
set plan_cache_mode = force_custom_plan
as $function$
begin
    return (
        select e.event_no
          from recall.memory_events as e
         where e.user_id = p_user_id
           and recall._event_hash(e.event_hash, p_event) = p_event.event_hash
         limit 1);
end;
$function$;

comment on function recall._followed_event(uuid, recall.memory_events) is
    'The number of the event whose hash this event contains, or NULL.';
