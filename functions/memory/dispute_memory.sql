-- End a memory at a model's request, or record a dispute about it.
-- A memory that the user stated ends only if the user's own words deny it
-- (recall._prove_statement). Otherwise the memory stays active and a person decides the dispute.
-- Inferences and output of tools end at once. Outcome: retracted, disputed or ended.
-- Locks   the user, the jobs (for a retraction).
-- Raises  RC001, RC003, RC010.
create or replace function recall.dispute_memory(
    p_user_id         uuid,
    p_memory_id       uuid,
    p_session_id      uuid,
    p_words           text default null,
    p_current_message text default null,
    p_reason          text default null,
    p_content         text default null
)
returns table (
    memory_id uuid,
    outcome   text
)
language plpgsql
volatile
parallel unsafe
security definer
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_settings recall.settings;
    v_session  recall.sessions;
    v_target   recall.memory_store;
    v_dispute  recall.memory_store;
    v_is_proof boolean := false;
begin
    perform recall._check_user(p_user_id);
    perform recall._check_text(p_reason, 'p_reason', 10000);
    v_settings := recall._settings(p_user_id);
    p_reason   := recall._guard_text(p_reason, v_settings, 'p_reason');
    p_content  := recall._guard_text(p_content, v_settings, 'p_content');
    if p_content is not null then
        perform recall._check_candidates(
            jsonb_build_array(jsonb_build_object('content', p_content)), null, '{}', v_settings);
    end if;
    perform recall._lock_user_and_bump_revision(p_user_id);
    v_session := recall._read_session(p_user_id, p_session_id);
    v_target  := recall._read_memory(p_user_id, p_memory_id);
    memory_id := p_memory_id;
    if v_target.ended_at is not null then
        outcome := 'ended';
        return next;
        return;
    end if;

    if v_target.provenance < 'tool_output' and p_words is not null then
        v_is_proof := exists (
            select
              from recall._prove_statement(p_user_id, p_session_id, v_target.content, p_words,
                                           p_current_message) as s
             where s.verdict = 'denies');
    end if;
    if v_is_proof or v_target.provenance >= 'tool_output' then
        perform recall._end_memory(
            v_target, 'retracted', clock_timestamp(),
            p_detail => jsonb_strip_nulls(jsonb_build_object(
                'reason', p_reason, 'session_id', p_session_id, 'is_proven', v_is_proof)));
        outcome := 'retracted';
        return next;
        return;
    end if;

    v_dispute := (recall._candidate_rows(
        p_user_id, v_session,
        jsonb_build_array(jsonb_build_object(
            'content', coalesce(p_content, left('Forget: ' || v_target.content,
                                                v_settings.memory_max_characters)),
            'kind', v_target.kind, 'source', 'inference', 'provenance', 'system_inferred')),
        array[recall.uuidv7()], clock_timestamp(), v_settings))[1];
    perform recall._check_source(array[v_dispute], v_settings);
    memory_id := recall._store_dispute(
        v_dispute, v_target, null, null,
        p_detail => jsonb_strip_nulls(jsonb_build_object('retracts', true, 'reason', p_reason)));
    outcome   := 'disputed';
    return next;
end;
$function$;

comment on function recall.dispute_memory(uuid, uuid, uuid, text, text, text, text) is
    'End a memory at a model''s request if the user''s words deny it or the user did not state '
    'it; otherwise record a dispute. Outcome: retracted, disputed, or ended when it was not '
    'active.';
