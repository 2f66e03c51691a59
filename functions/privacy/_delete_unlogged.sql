-- Delete rows of the unlogged tables, near the end of every erasure.
-- Given memories, only their accesses go; given a session, also its working memory; given neither,
-- all rows of the users. The lock is taken late, so that the users' working memory goes on
-- meanwhile.
-- Locks   the users' rows of user_locks, by user_id.
create or replace function recall._delete_unlogged(
    p_user_ids   uuid[],
    p_session_id uuid   default null,
    p_memory_ids uuid[] default null
)
returns jsonb
language plpgsql
volatile
parallel unsafe
set search_path to pg_catalog, recall, pg_temp
set plan_cache_mode = force_custom_plan
set enable_seqscan = off
set jit = off
as $function$
declare
    v_has_working boolean := p_session_id is not null or p_memory_ids is null;
    v_accesses    bigint;
    v_working     bigint;
    v_locks       integer := 0;
    v_user        uuid;
begin
    for v_user in select i.id from unnest(p_user_ids) as i (id) order by i.id loop
        v_locks := v_locks + recall._lock_unlogged_for_update(v_user);
    end loop;

    delete from recall.memory_access_log as l
     where l.user_id = any (p_user_ids)
       and (p_memory_ids is null or l.memory_id = any (p_memory_ids));
    get diagnostics v_accesses = row_count;
    if not v_has_working then
        return jsonb_build_object('memory_access_log', v_accesses);
    end if;

    delete from recall.working_memory as w
     where w.user_id = any (p_user_ids)
       and (p_session_id is null or w.session_id = p_session_id);
    get diagnostics v_working = row_count;
    if p_session_id is not null then
        return jsonb_build_object('memory_access_log', v_accesses, 'working_memory', v_working);
    end if;

    delete from recall.user_locks as l where l.user_id = any (p_user_ids);
    return jsonb_build_object('memory_access_log', v_accesses, 'working_memory', v_working,
                              'user_locks', v_locks);
end;
$function$;

comment on function recall._delete_unlogged(uuid[], uuid, uuid[]) is
    'Delete access-log rows and working memory of users, of a session or of memories; the deleted '
    'rows by table.';
