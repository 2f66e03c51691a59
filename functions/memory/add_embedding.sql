-- Store the vector of a memory that was written without one, and check it for near duplicates.
-- A call with the same vector changes nothing and returns the same outcome.
-- Locks   the user.
-- Raises  RC001, RC003 no vector, RC004.
create or replace function recall.add_embedding(
    p_user_id   uuid,
    p_memory_id uuid,
    p_embedding recall.memory_embedding.embedding%type,
    p_model     text
)
returns text
language plpgsql
volatile
parallel unsafe
security definer
set search_path to pg_catalog, recall, pg_temp
set plan_cache_mode = force_generic_plan
as $function$
declare
    v_settings recall.settings;
    v_model    text;
    v_memory   recall.memory_store;
begin
    perform recall._check_user(p_user_id);
    if p_embedding is null then
        raise exception using
            errcode = 'RC003',
            message = 'p_embedding is null',
            hint    = 'Pass the vector of the memory''s content.';
    end if;
    perform recall._check_model_name(nullif(p_model, ''), 'p_model');
    v_settings := recall._settings(p_user_id);
    v_model    := coalesce(nullif(p_model, ''), v_settings.embedding_model);
    if nullif(p_model, '') is null then
        perform recall._check_embedding(p_embedding, 'p_embedding', v_settings);
    else
        perform recall._check_vector(p_embedding, 'p_embedding', v_model,
                                     recall._model_dimensions(v_model, v_settings));
    end if;

    perform recall._lock_user_and_bump_revision(p_user_id);
    v_memory := recall._read_memory(p_user_id, p_memory_id);
    if recall._is_same_vector(recall._vector_of(p_user_id, p_memory_id, v_model), p_embedding) then
        return coalesce(
            (select e.detail ->> 'outcome'
               from recall.memory_events as e
              where e.user_id   = p_user_id
                and e.memory_id = p_memory_id
                and e.event     = 'embedded'
                and e.detail ->> 'model' = v_model
              order by e.event_no desc
              limit 1),
            case when v_memory.ended_at is null then 'added' else 'ended' end);
    end if;

    if v_memory.ended_at is null then
        return recall._embed_memory(p_user_id, p_memory_id, p_embedding, v_model, v_settings);
    end if;
    insert into recall.memory_embedding_ended as e (user_id, memory_id, embedding_model, embedding,
                                                    ended_at)
    values (p_user_id, p_memory_id, v_model, p_embedding, v_memory.ended_at)
    on conflict (user_id, memory_id, embedding_model) do update
       set embedding = excluded.embedding;
    return 'ended';
end;
$function$;

comment on function recall.add_embedding(uuid, uuid, recall.memory_embedding.embedding%type,
    text) is
    'Store the vector of a memory that was written without one. Outcome: added; duplicate (the '
    'memory ended in favor of a near duplicate); merged (a near duplicate ended in favor of the '
    'memory); ended (the memory had ended before, and the vector serves as_of). Without p_model '
    'the model is settings.embedding_model.';
