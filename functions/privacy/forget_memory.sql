-- Erase one memory permanently; `retract_memory` only ends it.
-- All versions, memories consolidated from it, patterns over it, their vectors and their audit go,
-- too. The source messages stay; `forget_session` erases those.
-- Locks   the user, the memories and jobs about them, then memory_access_log.
--         See docs/architecture.md.
-- Raises  RC001, 55P03 another transaction of the user stays open.
create or replace function recall.forget_memory(
    p_user_id   uuid,
    p_memory_id uuid
)
returns jsonb
language plpgsql
volatile
parallel unsafe
security definer
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_before text;
    v_ids    uuid[];
    v_counts jsonb;
begin
    perform recall._check_user(p_user_id);
    v_before := recall._bound_erasure_wait();
    begin
        perform recall._lock_user_and_bump_revision(p_user_id);
        perform recall._read_memory(p_user_id, p_memory_id);
        v_ids := recall._derived_memories(p_user_id, recall._chain_ids(p_user_id, p_memory_id),
                                          true);
        v_counts := recall._delete_memories(p_user_id, v_ids);
    exception when lock_not_available then
        perform recall._raise_open_writer(p_user_id);
    end;
    perform set_config('lock_timeout', v_before, true);
    return jsonb_build_object('counts', v_counts || recall._delete_unlogged(
        array[p_user_id], p_memory_ids => v_ids));
end;
$function$;

comment on function recall.forget_memory(uuid, uuid) is
    'Erase one memory permanently: all versions, what was consolidated from it, vectors and '
    'audit. Its source messages stay. Returns {"counts": rows deleted by table}. RC001: the '
    'memory does not exist.';
