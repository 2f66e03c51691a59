-- Say whether a memory is stale, or is not, as a filter asks (recall._stale_filter).
-- Stale is what decay_memories gives an expiry: of little importance and untouched for long, swept
-- or not, and with an expiry of its own, too. An instruction holds however seldom it is used. The
-- last access is the newest: what was unused then and is used now is not stale. Inlines into the
-- statement.
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
