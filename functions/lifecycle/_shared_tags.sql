-- Return the tags that all of these memories have.
create or replace function recall._shared_tags(
    p_user_id    uuid,
    p_memory_ids uuid[]
)
returns jsonb
language plpgsql
stable
parallel safe
set search_path from current
set plan_cache_mode = force_generic_plan
as $function$
begin
    return (
        select coalesce(jsonb_agg(s.tag order by s.tag), '[]')
          from (
                select t.tag
                  from recall.memory_store as m
                 cross join unnest(m.tags) as t (tag)
                 where m.user_id   = p_user_id
                   and m.memory_id = any (p_memory_ids)
                 group by t.tag
                having count(distinct m.memory_id) = cardinality(p_memory_ids)
               ) as s);
end;
$function$;

comment on function recall._shared_tags(uuid, uuid[]) is 'Tags that all of these memories have.';
