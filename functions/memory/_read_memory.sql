-- Return the row of a memory, current or ended.
-- Raises  RC001.
create or replace function recall._read_memory(
    p_user_id   uuid,
    p_memory_id uuid
)
returns recall.memory_store
language plpgsql
stable
parallel safe
set search_path to pg_catalog, recall, pg_temp
set plan_cache_mode = force_generic_plan
as $function$
declare
    v_memory recall.memory_store;
begin
    select m.*
      into v_memory
      from recall.memory_store as m
     where m.user_id   = p_user_id
       and m.memory_id = p_memory_id;

    if not found then
        -- Another user's memory gets the same error as an id that does not exist.
        raise exception using
            errcode = 'RC001',
            message = format('this user has no memory %s', coalesce(p_memory_id::text, 'null')),
            hint    = 'recall.get_memories lists them.';
    end if;
    return v_memory;
end;
$function$;

comment on function recall._read_memory(uuid, uuid) is
    'A memory''s row (RC001 when there is none).';
