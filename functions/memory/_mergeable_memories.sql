-- Return those of some memories that may still be merged, in the order of their ids.
create or replace function recall._mergeable_memories(
    p_user_id    uuid,
    p_kind       text,
    p_memory_ids uuid[],
    p_now        timestamptz
)
returns recall.memory_store[]
language plpgsql
stable
parallel safe
set search_path to pg_catalog, recall, pg_temp
set plan_cache_mode = force_generic_plan
as $function$
begin
    return array(
        select row(m.*)::recall.memory_store
          from recall.memory_store as m
         where m.user_id   = p_user_id
           and m.memory_id = any (p_memory_ids)
           and m.end_reason is null
           and m.kind = p_kind
           and recall._is_mergeable(row(m.*), p_now)
         order by m.memory_id);
end;
$function$;

comment on function recall._mergeable_memories(uuid, text, uuid[], timestamptz) is
    'Those of some memories that are active, of the kind and mergeable, in the order of their '
    'ids.';
