-- recall._log_events(user, memories, event, details, …) -> was embedding_due set before?
-- A line of audit for each memory: after the change, since it keeps the hash of the memory as the
-- event leaves it, unless the caller has the hashes. Details are one for all or one each. What else
-- there is to write to the user's row comes along (see recall._append_events). The caller holds
-- that row.
create or replace function recall._log_events(
    p_user_id       uuid,
    p_memory_ids    uuid[],
    p_event         text,
    p_details       jsonb[] default array[jsonb '{}'],
    p_job_id        uuid    default null,
    p_hashes        bytea[] default null,
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
as $function$
declare
    v_now    timestamptz            := clock_timestamp();
    v_events recall.memory_events[] := '{}'::recall.memory_events[];
    v_hashes bytea[]                := p_hashes;
    v_event  recall.memory_events;
begin
    if v_hashes is null then
        v_hashes := recall._memory_hashes(p_user_id, p_memory_ids);
    end if;

    v_event.user_id := p_user_id;
    v_event.at      := v_now;
    v_event.event   := p_event;
    v_event.job_id  := p_job_id;
    v_event.caller  := session_user;
    for v_place in 1 .. cardinality(p_memory_ids) loop
        v_event.memory_id   := p_memory_ids[v_place];
        v_event.memory_hash := v_hashes[v_place];
        v_event.detail      := jsonb_strip_nulls(coalesce(
            p_details[least(v_place, cardinality(p_details))], '{}'));
        v_events := v_events || v_event;
    end loop;
    return recall._append_events(p_user_id, v_events, p_change, p_merge_due, p_pattern_due,
                                 p_embedding_due);
end;
$function$;

comment on function recall._log_events(uuid, uuid[], text, jsonb[], uuid, bytea[], integer, boolean,
    boolean, boolean) is 'Write a line of audit for each of some memories of one user.';
