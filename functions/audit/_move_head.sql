-- recall._move_head(user, events, change, …) -> (events before, hashes, was embedding_due set?)
-- The head of the user's chain of events moves on, in one update with the other news of the user's
-- row: the change of active_memory_count and what the sweeps over users shall look at. Planned as
-- in _lock_user_and_bump_revision.
-- Raises  RC007 the chain has moved: the caller did not hold the row.
create or replace function recall._move_head(
    p_user_id       uuid,
    p_events        recall.memory_events[],
    p_change        integer,
    p_merge_due     boolean,
    p_pattern_due   boolean,
    p_embedding_due boolean,
    out o_before    bigint,
    out o_hashes    bytea[],
    out o_was_due   boolean
)
language plpgsql
volatile
parallel unsafe
set search_path from current
set plan_cache_mode = force_custom_plan
set constraint_exclusion = off
as $function$
begin
    select u.event_count, recall._chain_events(u.event_hash, p_events), u.embedding_due
      into o_before, o_hashes, o_was_due
      from recall.users as u
     where u.user_id = p_user_id;

    update recall.users as u
       set active_memory_count = u.active_memory_count + p_change,
           merge_due           = u.merge_due or p_merge_due,
           pattern_due         = u.pattern_due or p_pattern_due and u.has_vectors,
           embedding_due       = u.embedding_due or p_embedding_due,
           event_count         = u.event_count + cardinality(p_events),
           event_hash          = o_hashes[cardinality(p_events)]
     where u.user_id     = p_user_id
       and u.event_count = o_before;

    if not found then
        raise exception using
            errcode = 'RC007',
            message = format('the events of user %s have moved on', p_user_id),
            hint    = 'A writer must hold the user''s row; please report this.';
    end if;
end;
$function$;

comment on function recall._move_head(uuid, recall.memory_events[], integer, boolean, boolean,
    boolean) is 'Move the head of a user''s chain of events on; the hashes of the new ones.';
