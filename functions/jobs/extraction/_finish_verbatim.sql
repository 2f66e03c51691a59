-- Store a verbatim extraction's statements; return false if the session has changed or opted out
-- meanwhile.
-- The statements are read again by the message ids that the step chose. For an encrypted user the
-- result contains them.
-- Locks   the user, the session.
-- Raises  RC003 a statement that cannot be stored.
create or replace function recall._finish_verbatim(
    p_job    recall.jobs,
    p_result jsonb
)
returns boolean
language plpgsql
volatile
parallel unsafe
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_settings   recall.settings := recall._settings(p_job.user_id);
    v_through    constant integer := (p_result ->> 'through_turn')::integer;
    v_session    recall.sessions;
    v_candidates jsonb;
    v_embeddings recall.memory_embedding.embedding%type[];
begin
    perform recall._lock_user_and_bump_revision(p_job.user_id);
    v_session := recall._lock_session(p_job.user_id, p_job.session_id);

    if (p_result ->> 'from_turn')::integer <> v_session.extracted_through_turn
       or recall._extraction_mode(v_session, v_settings) = 'none' then
        return false;
    end if;
    if v_settings.has_sealed_users and recall._is_sealed_user(p_job.user_id) then
        v_candidates := recall._extracted_candidates(
            v_session, v_session.extracted_through_turn, v_through, p_result -> 'candidates');
    else
        v_candidates := recall._verbatim_candidates(
            v_session, v_through, v_settings, p_result -> 'message_ids');
    end if;
    v_embeddings := case when p_result ->> 'embedding_model' = v_settings.embedding_model
                         then p_job.vectors end;
    if v_embeddings is not null
       and cardinality(v_embeddings) <> jsonb_array_length(v_candidates) then
        return false;
    end if;

    if v_candidates <> '[]' then
        perform from recall.ingest_memories(p_job.user_id, p_job.session_id, v_candidates,
                                            v_embeddings);
        if v_embeddings is null then
            perform recall._enqueue_job(p_job.user_id, 'embed', p_job.session_id,
                                        p_job.session_id::text);
        end if;
    end if;
    perform recall._advance_extraction(v_session, v_through);
    perform recall._enqueue_due_summary(v_session, v_through, v_settings);
    return true;
end;
$function$;

comment on function recall._finish_verbatim(recall.jobs, jsonb) is
    'Store the verbatim memories of a leased extraction, and move the session''s cursor.';
