-- recall._append_events(user, events, change, …) -> was embedding_due set before?
-- The one place that writes the audit: events get their numbers and hashes, and the user's row the
-- head of the chain with its other news (recall._move_head). The caller holds that row, and that is
-- what keeps the chain one line.
-- Raises  RC007.
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
set search_path from current
set plan_cache_mode = force_generic_plan
as $function$
declare
    v_head record;
begin
    if p_events = '{}' then
        return null;
    end if;
    v_head := recall._move_head(p_user_id, p_events, p_change, p_merge_due, p_pattern_due,
                                p_embedding_due);

    insert into recall.memory_events (user_id, memory_id, event_no, at, event, job_id, caller,
                                      detail, memory_hash, event_hash)
    select p_user_id, e.memory_id, v_head.o_before + e.place, e.at, e.event, e.job_id, e.caller,
           e.detail, e.memory_hash, v_head.o_hashes[e.place]
      from unnest(p_events) with ordinality as e (
               user_id, memory_id, event_no, at, event, job_id, caller, detail, memory_hash,
               event_hash, place);
    return v_head.o_was_due;
end;
$function$;

comment on function recall._append_events(uuid, recall.memory_events[], integer, boolean, boolean,
    boolean) is 'Write events of one user, each chained to the one before.';
