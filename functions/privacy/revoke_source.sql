-- End all memories drawn from a compromised session or source, and what was consolidated from them.
-- Given both arguments, only memories of both count. They end as "revoked", which `restore_memory`
-- refuses; memories that had ended before become revoked, too. Memories that they superseded become
-- active again if their text and slot are free. Unread turns of the session are skipped and a
-- running extraction is discarded. Repeatable.
-- Locks   the user, the session, the jobs.
-- Raises  RC001 unknown session, RC003 neither, or no such source.
create or replace function recall.revoke_source(
    p_user_id           uuid,
    p_source_session_id uuid default null,
    p_source            text default null,
    p_reason            text default null
)
returns integer
language plpgsql
volatile
parallel unsafe
security definer
set search_path to pg_catalog, recall, pg_temp
set plan_cache_mode = force_generic_plan
as $function$
declare
    v_now    timestamptz := clock_timestamp();
    v_detail jsonb;
    v_drawn  uuid[];
    v_active uuid[];
    v_ended  uuid[];
begin
    perform recall._check_user(p_user_id);
    perform recall._check_text(p_reason, 'p_reason', 10000);
    if p_source_session_id is null and p_source is null
       or p_source not in ('conversation', 'manual', 'inference', 'tool', 'consolidation',
                           'import') then
        raise exception using
            errcode = 'RC003',
            message = format('p_source is %s', coalesce(quote_literal(left(p_source, 80)),
                                                        'null, and p_source_session_id too')),
            hint    = 'Name a session, or conversation, manual, inference, tool, consolidation '
                      'or import.';
    end if;
    v_detail := jsonb_strip_nulls(jsonb_build_object(
        'reason', recall._guard_text(p_reason, recall._settings(p_user_id), 'p_reason'),
        'source_session_id', p_source_session_id, 'source', p_source));
    perform recall._lock_user_and_bump_revision(p_user_id);
    if p_source_session_id is not null then
        perform recall._skip_unread_turns(p_user_id, p_source_session_id);
    end if;
    perform recall._discard_work(p_user_id);

    v_drawn  := recall._drawn_memories(p_user_id, p_source_session_id, p_source);
    v_active := array(
        select m.memory_id
          from recall.memory_store as m
         where m.user_id   = p_user_id
           and m.memory_id = any (v_drawn)
           and m.end_reason is null);
    perform recall._end_memories(p_user_id, v_active, 'revoked', v_now, p_detail => v_detail);

    with ended as (
        update recall.memory_store as m
           set end_reason = 'revoked',
               disputes   = null,
               updated_at = v_now
         where m.user_id   = p_user_id
           and m.memory_id = any (v_drawn)
           and m.end_reason <> 'revoked'
        returning m.memory_id
    )
    select coalesce(array_agg(e.memory_id), '{}') into v_ended from ended as e;
    perform recall._log_events(p_user_id, v_ended, 'revoked', array[v_detail]);

    perform recall._restore_displaced(p_user_id, v_drawn);
    return cardinality(v_active);
end;
$function$;

comment on function recall.revoke_source(uuid, uuid, text, text) is
    'End all memories drawn from a compromised session or source (conversation, manual, '
    'inference, tool, consolidation, import) as revoked, and restore the memories that they '
    'superseded. Returns how many active memories ended. RC001: the session does not exist. '
    'RC003: neither is given, or the source is unknown.';
