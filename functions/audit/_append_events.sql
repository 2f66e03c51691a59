-- Append events of one user to the audit, each chained to the previous one.
-- Returns whether embedding_due was set before. It is the only writer of the audit: one update
-- moves the chain head in the user's row and sets the row's columns for the sweeps. The caller has
-- locked that row, so the chain never forks.
-- Raises  RC007 the head has moved: the caller did not lock the row.
create or replace function recall._append_events(
    p_user_id       uuid,
    p_events        recall.memory_events[],
    p_change        integer default 0,
    p_merge_due     boolean default false,
    p_pattern_due   boolean default false,
    p_embedding_due boolean default false
)
returns boolean
language plpgsql
volatile
parallel unsafe
set search_path to pg_catalog, recall, pg_temp
set plan_cache_mode = force_custom_plan  -- as in _lock_user_and_bump_revision
set constraint_exclusion = off
as $function$
declare
    v_before        bigint;
    v_hash          bytea;
    v_embedding_due boolean;
begin
    if p_events = '{}' then
        return null;
    end if;
    select u.event_count, u.event_hash, u.embedding_due
      into v_before, v_hash, v_embedding_due
      from recall.users as u
     where u.user_id = p_user_id;

    for v_index in 1 .. cardinality(p_events) loop
        v_hash := recall._event_hash(v_hash, p_events[v_index]);
        p_events[v_index].event_hash := v_hash;
        p_events[v_index].event_no   := v_before + v_index;
    end loop;

    update recall.users as u
       set active_memory_count = u.active_memory_count + p_change,
           merge_due           = u.merge_due or p_merge_due,
           pattern_due         = u.pattern_due or p_pattern_due and u.has_vectors,
           embedding_due       = u.embedding_due or p_embedding_due,
           event_count         = u.event_count + cardinality(p_events),
           event_hash          = v_hash
     where u.user_id     = p_user_id
       and u.event_count = v_before;
    if not found then
        raise exception using
            errcode = 'RC007',
            message = format('the events of user %s changed meanwhile', p_user_id),
            hint    = 'A function wrote without the lock on the user''s row. Report this as a bug.';
    end if;

    insert into recall.memory_events select e.* from unnest(p_events) as e;
    return v_embedding_due;
end;
$function$;

comment on function recall._append_events(uuid, recall.memory_events[], integer, boolean, boolean,
    boolean) is
    'Append events of one user to the audit, each chained to the previous one; whether '
    'embedding_due was set before.';
