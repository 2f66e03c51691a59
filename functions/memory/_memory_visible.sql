-- Tell whether a memory is visible now, or was at p_as_of.
-- A row past its expires_at is invisible, swept or not. include_ended shows every row known by
-- then. valid_at asks what was true at a time, so it also shows superseded rows. The planner
-- inlines it.
create or replace function recall._memory_visible(
    p_memory recall.memory_store,
    p_filter recall.memory_filter,
    p_as_of  timestamptz
)
returns boolean
language sql
stable
parallel safe
as $function$
    select (p_as_of is null or (p_memory).created_at <= p_as_of)
        and ((p_filter).include_ended
             or ((p_memory).ended_at is null or (p_memory).ended_at > p_as_of)
                and ((p_memory).expires_at is null
                     or (p_memory).expires_at > coalesce(p_as_of, now()))
             or (p_filter).valid_at is not null and (p_memory).end_reason = 'superseded');
$function$;

comment on function recall._memory_visible(recall.memory_store, recall.memory_filter,
    timestamptz) is
    'Whether a memory is visible now, or was at p_as_of.';
