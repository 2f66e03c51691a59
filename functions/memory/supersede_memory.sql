-- Replace a memory with a person's edit, and return the id of the memory that states it now.
-- A superseded memory is followed to the active end of its chain. If another active memory has the
-- same text, that one becomes the successor.
-- Locks   the user.
-- Raises  RC001, RC003 bad value, or nothing active at the end of the chain, RC004.
create or replace function recall.supersede_memory(
    p_user_id   uuid,
    p_memory_id uuid,
    p_content   text,
    p_changes   jsonb default '{}'
)
returns uuid
language plpgsql
volatile
parallel unsafe
security definer
set search_path to pg_catalog, recall, pg_temp
set timezone = 'UTC'
as $function$
declare
    v_settings  recall.settings;
    v_edit      jsonb;
    v_embedding recall.memory_embedding.embedding%type;
    v_model     text;
    v_target    recall.memory_store;
    v_memory    recall.memory_store;
begin
    perform recall._check_user(p_user_id);
    perform recall._check_json(p_changes, 'p_changes');
    v_settings := recall._settings(p_user_id);
    if p_changes is null or jsonb_typeof(p_changes) <> 'object' or p_changes ? 'content' then
        raise exception using
            errcode = 'RC003',
            message = 'p_changes is not an object, or has a content',
            hint    = 'Pass {"tags": ["…"]}; the text is p_content.';
    end if;
    v_edit := jsonb_build_object('content', p_content) || p_changes;
    perform recall._check_candidates(jsonb_build_array(v_edit), null, '{expires_at,review_at}',
                                     v_settings);
    perform recall._refuse_secrets(jsonb_build_array(v_edit), v_settings);
    v_embedding := (recall._candidate_embeddings(jsonb_build_array(v_edit), null,
                                                 v_settings))[1];
    v_model     := coalesce(p_changes ->> 'embedding_model', v_settings.embedding_model);

    perform recall._lock_user_and_bump_revision(p_user_id);
    v_target := recall._end_of_chain(p_user_id, p_memory_id);
    if v_target.ended_at is not null then
        raise exception using
            errcode = 'RC003',
            message = format('memory %s has ended and has no successor', p_memory_id),
            hint    = 'Restore it with recall.restore_memory first.';
    end if;
    if p_content = v_target.content and p_changes = '{}' then
        return v_target.memory_id;
    end if;

    v_memory := recall._edited_memory(v_target, v_edit, v_settings);
    if v_embedding is null and p_content = v_target.content then
        v_embedding := recall._vector_of(p_user_id, v_target.memory_id, v_model);
    end if;
    -- The new row takes slot and expiry from the edit, not from the target.
    v_target.expires_at := v_memory.expires_at;
    if p_changes ? 'slot' then
        v_target.slot := null;
    end if;

    return (
        select p.memory_id
          from recall._place_memory(v_memory, v_embedding, v_model, v_settings, v_target,
                                    p_is_edit => true) as p);
end;
$function$;

comment on function recall.supersede_memory(uuid, uuid, text, jsonb) is
    'Edit a memory: a new row with p_content and p_changes supersedes it. Returns the new id. '
    'p_changes: keys of a candidate, expires_at, review_at; null removes a value, other values '
    'stay. Pass the vector of the new text as p_changes.embedding, or add it later.';
