-- Find turns whose metadata, including annotations, contain an object.
-- The custom plan reads only one partition and the months of the filter.
-- Cost    a scan of the user's history in those months.
create or replace function recall._turns_with_metadata(
    p_user_id  uuid,
    p_metadata jsonb,
    p_filter   recall.message_filter
)
returns recall.turn_keys
language plpgsql
stable
parallel safe
set search_path to pg_catalog, recall, pg_temp
set plan_cache_mode = force_custom_plan
set jit = off
as $function$
declare
    v_turns recall.turn_keys;
begin
    with patch as materialized (
        select n.session_id, n.turn_index,
               jsonb_object_agg(k.key, k.value order by n.created_at, n.annotation_id) as patch
          from recall.message_annotations as n
         cross join lateral jsonb_each(n.patch) as k
         where n.user_id = p_user_id
         group by n.session_id, n.turn_index
    )
    select coalesce(array_agg(h.session_id), '{}'), coalesce(array_agg(h.turn_index), '{}')
      into v_turns.session_ids, v_turns.turn_indexes
      from recall.conversation_history as h
      left join patch as p using (session_id, turn_index)
     where h.user_id = p_user_id
       and h.created_at >= coalesce(p_filter.since, '-infinity')
       and h.created_at < coalesce(p_filter.until, 'infinity')
       and (p_filter.session_ids is null or h.session_id = any (p_filter.session_ids))
       and case when p.patch is null then h.metadata
                else recall._merge_metadata(h.metadata, p.patch) end @> p_metadata;
    return v_turns;
end;
$function$;

comment on function recall._turns_with_metadata(uuid, jsonb, recall.message_filter) is
    'Turns of a user whose metadata, including annotations, contain an object.';
