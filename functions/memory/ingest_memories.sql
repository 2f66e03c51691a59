-- Write extracted or imported candidates in one transaction, one result row each, in order.
-- A candidate gets at most the provenance of the turns that it cites. p_embeddings, in the order of
-- the candidates, is the preferred way to pass vectors.
-- Locks   the user.
-- Raises  RC001 unknown session, RC003, RC004, RC010.
create or replace function recall.ingest_memories(
    p_user_id    uuid,
    p_session_id uuid,
    p_candidates jsonb,
    p_embeddings recall.jobs.vectors%type default null
)
returns table (
    ordinal   integer,
    memory_id uuid,
    outcome   text
)
language plpgsql
volatile
parallel unsafe
security definer
set search_path to pg_catalog, recall, pg_temp
set timezone = 'UTC'
as $function$
declare
    v_chunk      constant integer := 250;
    v_settings   recall.settings;
    v_session    recall.sessions;
    v_embeddings recall.memory_embedding.embedding%type[];
    v_models     text[];
    v_ids        uuid[];
    v_memories   recall.memory_store[];
    v_now        timestamptz;
    v_count      integer;
begin
    perform recall._check_user(p_user_id);
    perform recall._check_json(p_candidates, 'p_candidates', 64, 2147483647);
    v_settings := recall._settings(p_user_id);
    perform recall._check_candidates(p_candidates, 'candidates', '{review_at}', v_settings);
    perform recall._refuse_secrets(p_candidates, v_settings);
    v_embeddings := recall._candidate_embeddings(p_candidates, p_embeddings, v_settings);
    v_models := array(
        select coalesce(e.candidate ->> 'embedding_model', v_settings.embedding_model)
          from jsonb_array_elements(p_candidates) with ordinality as e (candidate, ordinal)
         order by e.ordinal);
    v_count := jsonb_array_length(p_candidates);

    perform recall._lock_user_and_bump_revision(p_user_id);
    v_now := clock_timestamp();
    if p_session_id is not null then
        v_session := recall._read_session(p_user_id, p_session_id);
    end if;
    p_candidates := recall._cited_candidates(p_user_id, v_session, p_candidates);
    -- Ascending ids, so that lists show the memories in the order of the batch.
    v_ids      := array(select u.id from unnest(recall._uuids(v_count)) as u (id) order by u.id);
    v_memories := recall._candidate_rows(p_user_id, v_session, p_candidates, v_ids, v_now,
                                         v_settings);
    perform recall._check_source(v_memories, v_settings);

    for v_from in 1 .. v_count by v_chunk loop
        return query
        select v_from + p.ordinal - 1, p.memory_id, p.outcome
          from recall._place_memories(
                   v_memories[v_from:v_from + v_chunk - 1],
                   v_embeddings[v_from:v_from + v_chunk - 1],
                   v_models[v_from:v_from + v_chunk - 1], v_settings) as p;
    end loop;
end;
$function$;

comment on function recall.ingest_memories(uuid, uuid, jsonb, recall.jobs.vectors%type) is
    'Write extracted or imported memories in one transaction, or none of them. Keys of a '
    'candidate: content, kind, slot, tags, importance, confidence, provenance, source, '
    'observed_at, valid_from, valid_to, source_turn_ids, embedding, embedding_model, token_count, '
    'agent_id, metadata. metadata {"verbatim": true} marks a message kept as it stands. Creates '
    'an unknown user. Ordinals count from 1; outcomes as of remember.';
