-- Erase one session permanently with everything derived from it alone.
-- This covers messages (also in detached months inside the schema), annotations, search rows and
-- receipts. It also covers jobs, spans, the call log, working memory, and summaries with their
-- copies in continuing sessions. Memories without another source go with what was derived from
-- them; memories that another session confirms stay.
-- Locks   the user, the session, memories and jobs, then the unlogged tables.
--         See docs/architecture.md.
-- Raises  RC001, RC007 not in a transaction that is read committed.
create or replace function recall.forget_session(
    p_user_id    uuid,
    p_session_id uuid
)
returns jsonb
language plpgsql
volatile
parallel unsafe
security definer
set search_path from current
set plan_cache_mode = force_custom_plan
as $function$
declare
    v_until    timestamptz;
    v_session  recall.sessions;
    v_detached bigint;
    v_messages uuid[];
    v_ids      uuid[];
    v_counts   jsonb;
    v_table    text;
    v_rows     bigint;
begin
    perform recall._check_user(p_user_id);
    perform recall._check_isolation();
    -- Take the strongest lock first: upgrading a shared lock can deadlock with another transaction.
    perform from recall.users as u where u.user_id = p_user_id for update;
    perform recall._lock_user_and_bump_revision(p_user_id);
    v_session := recall._lock_session(p_user_id, p_session_id);
    v_until   := greatest(v_session.last_message_at, clock_timestamp());

    select d.o_rows, d.o_messages
      into v_detached, v_messages
      from recall._delete_detached(p_user_id, p_session_id) as d;
    v_messages := v_messages || array(
        select h.message_id
          from recall.conversation_history as h
         where h.user_id    = p_user_id
           and h.session_id = p_session_id
           and h.created_at between v_session.created_at and v_session.last_message_at);
    v_ids := recall._derived_memories(
        p_user_id, recall._forget_sources(p_user_id, p_session_id, v_messages), true);
    v_counts := recall._delete_memories(p_user_id, v_ids)
                || recall._delete_session_calls(p_user_id, p_session_id)
                || jsonb_build_object('detached', v_detached);

    foreach v_table in array array[
        'sessions', 'session_summaries', 'message_search', 'message_annotations',
        'append_receipts', 'job_phases', 'conversation_history', 'jobs']
    loop
        execute format('delete from recall.%I where user_id = $1 and session_id = $2 %s', v_table,
                       case when v_table in ('conversation_history', 'job_phases')
                            then 'and created_at between $3 and $4' end)
          using p_user_id, p_session_id, v_session.created_at, v_until;
        get diagnostics v_rows = row_count;
        v_counts := v_counts || jsonb_build_object(
            v_table, v_rows + coalesce((v_counts ->> v_table)::bigint, 0));
    end loop;

    delete from recall.session_summaries as c
     using recall.sessions as s
     where s.user_id           = p_user_id
       and s.parent_session_id = p_session_id
       and c.user_id           = p_user_id
       and c.session_id        = s.session_id
       and c.to_turn           = 0;
    update recall.sessions as s
       set parent_session_id = null
     where s.user_id           = p_user_id
       and s.parent_session_id = p_session_id;
    perform recall._collect_system_prompts();
    return jsonb_build_object('counts', v_counts || recall._delete_unlogged(
        array[p_user_id], p_session_id, v_ids));
end;
$function$;

comment on function recall.forget_session(uuid, uuid) is
    'Erase one session permanently: messages, summaries, jobs, calls, working memory, and '
    'memories that have no other source. Returns {"counts": rows deleted by table}. RC001: the '
    'session does not exist. RC007: the transaction is not read committed.';
