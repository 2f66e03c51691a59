-- Return the metadata of a message merged with its annotations.
create or replace function recall._annotated(
    p_user_id    uuid,
    p_session_id uuid,
    p_turn_index integer,
    p_metadata   jsonb
)
returns jsonb
language plpgsql
stable
parallel safe
set search_path to pg_catalog, recall, pg_temp
set plan_cache_mode = force_generic_plan
as $function$
declare
    v_patch jsonb;
begin
    select jsonb_object_agg(k.key, k.value order by n.created_at, n.annotation_id)
      into v_patch
      from recall.message_annotations as n
     cross join lateral jsonb_each(n.patch) as k
     where n.user_id    = p_user_id
       and n.session_id = p_session_id
       and n.turn_index = p_turn_index;
    return case when v_patch is null then p_metadata
                else recall._merge_metadata(p_metadata, v_patch) end;
end;
$function$;

comment on function recall._annotated(uuid, uuid, integer, jsonb) is
    'Metadata of a message with its annotations; the latest value of a key wins.';
