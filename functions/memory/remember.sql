-- Remember one text that a user, a UI, an agent or a model passes.
-- With p_user_words or p_current_message the caller is a model. The text then counts as stated by
-- the user only if the user's words state it (recall._prove_statement); otherwise it is an
-- inference of that session. is_proven says which; it is NULL for any other caller. A model without
-- a quote passes an empty text.
-- Locks   the user.
-- Raises  RC001 unknown session, RC003, RC004, RC010.
create or replace function recall.remember(
    p_user_id         uuid,
    p_content         text,
    p_kind            text              default 'fact',
    p_slot            text              default null,
    p_tags            text[]            default '{}',
    p_importance      real              default 0.5,
    p_provenance      recall.provenance default 'user_stated',
    p_embedding       recall.memory_embedding.embedding%type default null,
    p_session_id      uuid              default null,
    p_agent_id        text              default null,
    p_observed_at     timestamptz       default null,
    p_expires_at      timestamptz       default null,
    p_token_count     integer           default null,
    p_metadata        jsonb             default '{}',
    p_user_words      text              default null,
    p_current_message text              default null
)
returns table (
    memory_id uuid,
    outcome   text,
    is_proven boolean
)
language plpgsql
volatile
parallel unsafe
security definer
set search_path to pg_catalog, recall, pg_temp
set timezone = 'UTC'
as $function$
declare
    v_settings  recall.settings;
    v_session   recall.sessions;
    v_candidate jsonb;
    v_memory    recall.memory_store;
    v_placed    recall.placed_memory;
    v_quoted    recall.quoted_statement;
    v_turn_ids  uuid[];
begin
    perform recall._check_user(p_user_id);
    perform recall._check_json(p_metadata, 'p_metadata');
    if num_nonnulls(p_user_words, p_current_message) > 0 then
        v_quoted     := recall._quoted_statement(
            p_user_id, p_session_id, p_content, p_provenance, p_metadata, p_user_words,
            p_current_message);
        is_proven    := v_quoted.is_proven;
        p_provenance := v_quoted.provenance;
        p_metadata   := v_quoted.metadata;
        v_turn_ids   := v_quoted.turn_ids;
    end if;
    v_settings  := recall._settings(p_user_id);
    v_candidate := jsonb_build_array(jsonb_strip_nulls(jsonb_build_object(
        'content', p_content, 'kind', p_kind, 'slot', p_slot, 'tags', p_tags,
        'importance', p_importance, 'provenance', p_provenance,
        'source', case when is_proven then 'conversation'
                       when p_provenance = 'tool_output' then 'tool'
                       when p_provenance = 'system_inferred' then 'inference'
                       else 'manual' end,
        'source_turn_ids', v_turn_ids,
        'agent_id', p_agent_id, 'observed_at', p_observed_at, 'expires_at', p_expires_at,
        'token_count', p_token_count)) || jsonb_build_object('metadata', p_metadata));
    perform recall._check_candidates(v_candidate, null, '{expires_at}', v_settings);
    if v_settings.secrets = 'refuse' then
        perform recall._refuse_secrets(v_candidate, v_settings);
    end if;
    perform recall._check_embedding(p_embedding, 'p_embedding', v_settings);

    perform recall._lock_user_and_bump_revision(p_user_id);
    if p_session_id is not null then
        v_session := recall._read_session(p_user_id, p_session_id);
    end if;
    v_memory := (recall._candidate_rows(p_user_id, v_session, v_candidate,
                                        array[recall.uuidv7()], clock_timestamp(), v_settings))[1];
    if v_memory.provenance >= 'tool_output' then
        perform recall._check_source(array[v_memory], v_settings);
    end if;
    v_placed  := recall._place_memory(v_memory, p_embedding, v_settings.embedding_model,
                                      v_settings);
    memory_id := v_placed.memory_id;
    outcome   := v_placed.outcome;
    return next;
end;
$function$;

comment on function recall.remember(uuid, text, text, text, text[], real, recall.provenance,
    recall.memory_embedding.embedding%type, uuid, text, timestamptz, timestamptz, integer, jsonb,
    text, text) is
    'Remember one text (importance 0 to 1); creates an unknown user. Outcome: added; duplicate '
    '(memory_id already states it; a slot or kind that it has stays); merged or superseded (it '
    'replaces a nearly equal memory, or the one in its slot); disputed (it contradicts what the '
    'user stated, and a person decides). Without an embedding only equal texts are recognized. A '
    'model passes the user''s words, which prove the text.';
