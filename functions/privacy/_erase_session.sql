-- Erase a session, or only what it holds, with everything derived from it alone.
-- See recall.forget_session and recall.clear_session, which call it.
-- Locks   the user, the session, memories and jobs, the unlogged tables, then unused prompts.
--         See docs/architecture.md.
-- Raises  RC001, RC007 not in a transaction that is read committed, 55P03 another transaction
--         of the user stays open.
create or replace function recall._erase_session(
    p_user_id       uuid,
    p_session_id    uuid,
    p_keeps_session boolean
)
returns jsonb
language plpgsql
volatile
parallel unsafe
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_before constant text := recall._bound_erasure_wait();
    v_gone   record;
begin
    begin
        v_gone := recall._delete_session(p_user_id, p_session_id, p_keeps_session);
    exception when lock_not_available then
        perform recall._raise_open_writer(p_user_id);
    end;
    perform set_config('lock_timeout', v_before, true);
    v_gone.o_counts := v_gone.o_counts || recall._delete_unlogged(
        array[p_user_id], p_session_id, v_gone.o_memories);
    perform recall._collect_system_prompts(array[v_gone.o_prompt]);
    return jsonb_build_object('counts', v_gone.o_counts);
end;
$function$;

comment on function recall._erase_session(uuid, uuid, boolean) is
    'Erase a session, or only what it holds; the deleted rows by table.';
