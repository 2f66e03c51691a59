-- Append the events of a document to the user's chain; return how many were new.
-- Events have no ids, so a memory's events are imported only when it had none before the import,
-- that is, up to the number p_before. They are chained again: a user without events gets the
-- original hashes. After other events, tombstones are omitted, since their numbers mean nothing
-- there. The caller has locked the user.
create or replace function recall._import_events(
    p_user_id uuid,
    p_rows    jsonb,
    p_before  bigint
)
returns bigint
language plpgsql
volatile
parallel unsafe
set search_path to pg_catalog, recall, pg_temp
set plan_cache_mode = force_custom_plan
set timezone = 'UTC'
as $function$
declare
    v_events recall.memory_events[];
    v_known  uuid[];
begin
    v_known := array(
        select distinct e.memory_id
          from recall.memory_events as e
         where e.user_id   = p_user_id
           and e.event_no <= p_before
           and e.memory_id = any (array(
                   select (r.item ->> 'memory_id')::uuid
                     from jsonb_array_elements(p_rows) as r (item))));
    v_events := array(
        select jsonb_populate_record(null::recall.memory_events,
                                     r.item || jsonb_build_object('user_id', p_user_id))
          from jsonb_array_elements(p_rows) with ordinality as r (item, place)
         where (p_before = 0
                or r.item ->> 'event' not in ('tombstone', 'forgotten'))
           and (r.item ->> 'memory_id')::uuid <> all (v_known)
         order by (r.item ->> 'event_no')::bigint, r.place);
    perform recall._append_events(p_user_id, v_events);
    return cardinality(v_events);
end;
$function$;

comment on function recall._import_events(uuid, jsonb, bigint) is
    'Append the events of a document to the user''s chain.';
