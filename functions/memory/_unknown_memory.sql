-- Raise the error for a memory that this user does not have.
-- Another user's memory gets the same error as an id that does not exist.
-- Raises  RC001, always.
create or replace function recall._unknown_memory(
    p_memory_id uuid
)
returns void
language plpgsql
immutable
parallel safe
set search_path from current
as $function$
begin
    raise exception using
        errcode = 'RC001',
        message = format('this user has no memory %s', coalesce(p_memory_id::text, 'null')),
        hint    = 'recall.get_memories lists them.';
end;
$function$;

comment on function recall._unknown_memory(uuid) is 'Raise RC001: the user has no such memory.';
