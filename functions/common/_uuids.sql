-- Return an array of new UUIDv7, ascending.
-- Volatile calls must not be part of a statement on user data, so create the ids first. It is a
-- loop, because a set-returning query costs an executor start (83 µs against 12 for two ids).
create or replace function recall._uuids(
    p_count integer
)
returns uuid[]
language plpgsql
volatile
parallel safe
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_first uuid   := recall.uuidv7();
    v_uuids uuid[] := array[]::uuid[];
begin
    for v_place in 0 .. p_count - 1 loop
        v_uuids := v_uuids || recall._following_uuid(v_first, v_place);
    end loop;
    return v_uuids;
end;
$function$;

comment on function recall._uuids(integer) is 'An array of new UUIDv7, ascending.';
