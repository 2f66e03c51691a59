-- Log one event for each of some memories of a user; return whether embedding_due was set before.
-- Call it after the change: an event records the memory's hash after the change, unless the caller
-- passes hashes. Pass one detail for all or one each. The caller has locked the user's row; the
-- other parameters change that row (_append_events). The ciphertext of a content is left out: it is
-- bound to a row that is not stored, so it would not open here.
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
set search_path to pg_catalog, recall, pg_temp
set plan_cache_mode = force_generic_plan
as $function$
declare
    v_now    timestamptz            := clock_timestamp();
    v_events recall.memory_events[] := '{}'::recall.memory_events[];
    v_hashes bytea[]                := p_hashes;
    v_event  recall.memory_events;
begin
    if v_hashes is null then
        v_hashes := array(
            select (select recall._memory_hash(m::recall.memory_store)
                      from (
                            select t.*
                              from recall.memory_store as t
                             where t.user_id   = p_user_id
                               and t.memory_id = i.memory_id
                           ) as m)
              from unnest(p_memory_ids) with ordinality as i (memory_id, place)
             order by i.place);
    end if;

    v_event.user_id := p_user_id;
    v_event.at      := v_now;
    v_event.event   := p_event;
    v_event.job_id  := p_job_id;
    v_event.caller  := session_user;
    for v_index in 1 .. cardinality(p_memory_ids) loop
        v_event.memory_id   := p_memory_ids[v_index];
        v_event.memory_hash := v_hashes[v_index];
        v_event.detail      := jsonb_strip_nulls(coalesce(
            p_details[least(v_index, cardinality(p_details))], '{}'));
        if recall._is_sealed(v_event.detail ->> 'content') then
            v_event.detail := v_event.detail - 'content';
        end if;
        v_events := v_events || v_event;
    end loop;
    return recall._append_events(p_user_id, v_events, p_change, p_merge_due, p_pattern_due,
                                 p_embedding_due);
end;
$function$;

comment on function recall._log_events(uuid, uuid[], text, jsonb[], uuid, bytea[], integer, boolean,
    boolean, boolean) is
    'Log one event for each of some memories of a user; whether embedding_due was set before.';
