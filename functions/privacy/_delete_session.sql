-- Delete a session, or only what it holds, with everything derived from it alone.
-- The caller deletes from the unlogged tables as its last step (_delete_unlogged).
-- Locks   the user, the session, memories and jobs. See docs/architecture.md.
-- Raises  RC001, RC007 not in a transaction that is read committed.
create or replace function recall._delete_session(
    p_user_id       uuid,
    p_session_id    uuid,
    p_keeps_session boolean,
    out o_counts    jsonb,
    out o_memories  uuid[],
    out o_prompt    bytea
)
language plpgsql
volatile
parallel unsafe
set search_path to pg_catalog, recall, pg_temp
set plan_cache_mode = force_custom_plan
as $function$
declare
    v_until    timestamptz;
    v_now      timestamptz;
    v_session  recall.sessions;
    v_detached bigint;
    v_messages uuid[];
    v_copies   uuid[];
    v_table    text;
    v_rows     bigint;
begin
    perform recall._check_isolation();
    -- Take the strongest lock first: upgrading a shared lock can deadlock with another transaction.
    perform from recall.users as u where u.user_id = p_user_id for update;
    perform recall._lock_user_and_bump_revision(p_user_id);
    v_session := recall._lock_session(p_user_id, p_session_id);
    o_prompt  := v_session.system_prompt_hash;
    v_now     := clock_timestamp();
    v_until   := greatest(v_session.last_message_at, v_now);

    select d.o_rows, d.o_messages
      into v_detached, v_messages
      from recall._delete_detached(p_user_id, p_session_id) as d;
    v_messages := v_messages || array(
        select h.message_id
          from recall.conversation_history as h
         where h.user_id    = p_user_id
           and h.session_id = p_session_id
           and h.created_at between v_session.created_at and v_session.last_message_at);
    o_memories := recall._derived_memories(
        p_user_id, recall._forget_sources(p_user_id, p_session_id, v_messages), true);
    o_counts := recall._delete_memories(p_user_id, o_memories)
                || recall._delete_session_calls(p_user_id, p_session_id)
                || jsonb_build_object('detached', v_detached);

    v_copies := recall._summary_copies(p_user_id, p_session_id);
    foreach v_table in array array[
        'sessions', 'session_summaries', 'message_search', 'message_words',
        'message_annotations', 'append_receipts', 'job_phases', 'conversation_history', 'jobs']
    loop
        continue when p_keeps_session and v_table in ('sessions', 'append_receipts');
        execute format('delete from recall.%I where user_id = $1 and session_id = $2 %s', v_table,
                       case when v_table in ('conversation_history', 'job_phases')
                            then 'and created_at between $3 and $4' end)
          using p_user_id, p_session_id, v_session.created_at, v_until;
        get diagnostics v_rows = row_count;
        o_counts := o_counts || jsonb_build_object(
            v_table, v_rows + coalesce((o_counts ->> v_table)::bigint, 0));
    end loop;

    delete from recall.session_summaries as c
     where c.user_id    = p_user_id
       and c.summary_id = any (v_copies);
    if p_keeps_session then
        -- Receipts stay without the hash of the messages: an append that is repeated now would
        -- store the erased messages again.
        update recall.append_receipts as r
           set payload_hash   = null,
               payload_digest = null
         where r.user_id    = p_user_id
           and r.session_id = p_session_id;
        -- The counters of cost and tokens stay, and turn numbers continue.
        update recall.sessions as s
           set active_tokens          = 0,
               retracted_turns        = '{}',
               compacted_through_turn = 0,
               first_retained_turn    = s.turn_count + 1,
               extracted_through_turn = s.turn_count,
               extracted_user_turns   = s.user_turn_count,
               extraction_cursor      = null,
               indexed_through_turn   = s.turn_count,
               compaction_due         = false,
               search_purge_at        = null,
               updated_at             = v_now
         where s.user_id    = p_user_id
           and s.session_id = p_session_id;
    else
        update recall.sessions as s
           set parent_session_id = null
         where s.user_id           = p_user_id
           and s.parent_session_id = p_session_id;
    end if;
end;
$function$;

comment on function recall._delete_session(uuid, uuid, boolean) is
    'Delete a session, or only what it holds, except rows of the unlogged tables; the deleted rows '
    'by table, the deleted memories and the prompt.';
