-- Return the memory ids in the payload of a merge or pattern job.
-- Raises  RC003 when the payload has no list of memory ids.
create or replace function recall._payload_memories(
    p_payload jsonb
)
returns uuid[]
language plpgsql
immutable
parallel safe
set search_path to pg_catalog, recall, pg_temp
as $function$
begin
    if not recall._is_uuid_list(p_payload -> 'memory_ids') then
        raise exception using
            errcode = 'RC003',
            message = format('memory_ids in the job''s payload is %s',
                             coalesce(left((p_payload -> 'memory_ids')::text, 80), 'missing')),
            hint    = 'A list of memory ids, as recall.enqueue_merges and recall.enqueue_patterns '
                      'leave it.';
    end if;
    return array(select i.id::uuid from jsonb_array_elements_text(p_payload -> 'memory_ids')
                                        as i (id));
end;
$function$;

comment on function recall._payload_memories(jsonb) is
    'Memory ids in a job''s payload (RC003 when there is no list of them).';
