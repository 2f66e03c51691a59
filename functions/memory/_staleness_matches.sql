-- Tell whether a memory is stale or fresh, as a filter asks (recall._stale_filter).
-- Stale are those that decay_memories gives an expiry: of low importance and untouched for
-- decay_idle. Neither the sweep nor an expiry of their own matters. Instructions never become
-- stale. The newest access counts, also for a past p_as_of. The planner inlines it.
create or replace function recall._staleness_matches(
    p_memory recall.memory_store,
    p_filter recall.memory_filter
)
returns boolean
language sql
immutable
parallel safe
as $function$
    select (p_filter).stale is null
        or (p_filter).stale = ((p_memory).importance < (p_filter).stale_importance
                               and coalesce((p_memory).last_accessed_at, (p_memory).created_at)
                                   <= (p_filter).stale_before
                               and (p_memory).kind <> 'instruction');
$function$;

comment on function recall._staleness_matches(recall.memory_store, recall.memory_filter) is
    'Whether a memory is stale or fresh, as a filter asks.';
