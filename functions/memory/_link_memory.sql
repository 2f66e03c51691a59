-- Give an ended row its successor: after its chain had ended, or to undo a merge.
create or replace function recall._link_memory(
    p_memory    recall.memory_store,
    p_successor uuid
)
returns void
language plpgsql
volatile
parallel unsafe
set search_path to pg_catalog, recall, pg_temp
set plan_cache_mode = force_generic_plan
as $function$
declare
    v_now timestamptz := clock_timestamp();
begin
    update recall.memory_store as m
       set superseded_by = p_successor,
           updated_at    = v_now
     where m.user_id   = p_memory.user_id
       and m.memory_id = p_memory.memory_id;

    perform recall._log_event(
        p_memory.user_id, p_memory.memory_id, 'followed',
        jsonb_build_object('by', p_successor, 'instead_of', p_memory.superseded_by));
end;
$function$;

comment on function recall._link_memory(recall.memory_store, uuid) is
    'Point an ended memory to the one that follows it.';
