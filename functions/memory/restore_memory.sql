-- Undo a merge, a retraction, an expiry or an edit, and return the id of the new row.
-- An ended row never becomes active again, or as_of would be wrong: a new row with its text
-- follows.
-- Locks   the user.
-- Raises  RC001, RC003 it is active, or its text or slot is taken, RC006 a disputed or revoked row.
create or replace function recall.restore_memory(
    p_user_id   uuid,
    p_memory_id uuid
)
returns uuid
language plpgsql
volatile
parallel unsafe
security definer
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_now      timestamptz := clock_timestamp();
    v_settings recall.settings;
    v_old      recall.memory_store;
    v_end      recall.memory_store;
    v_new      recall.memory_store;
    v_vector   recall.memory_embedding.embedding%type;
begin
    perform recall._check_user(p_user_id);
    v_settings := recall._settings(p_user_id);
    perform recall._lock_user_and_bump_revision(p_user_id);
    v_old := recall._read_memory(p_user_id, p_memory_id);
    if v_old.ended_at is null and v_old.expires_at <= v_now then
        -- It has expired, and the sweep has not ended it yet.
        perform recall._end_memory(v_old, 'expired', v_now);
        v_old := recall._read_memory(p_user_id, p_memory_id);
    end if;
    v_end := recall._end_of_chain(p_user_id, p_memory_id);
    v_new := recall._restored_memory(v_old, recall.uuidv7(), v_now);
    v_new.review_at := recall._next_review(v_new.kind, v_now);

    -- Reverting an edit ends the result of the edit. After a merge, the successor stays active and
    -- the new row follows the restored one; where the chain has ended, it follows the last row.
    if v_end.ended_at is null and v_old.end_reason = 'superseded' then
        perform recall._check_restorable(v_old, v_end.memory_id);
        perform recall._end_memory(v_end, 'superseded', v_new.created_at, v_new.memory_id,
                                   v_new.created_at);
    else
        perform recall._check_restorable(v_old);
        perform recall._link_memory(case when v_end.ended_at is null then v_old else v_end end,
                                    v_new.memory_id);
    end if;

    v_vector := recall._vector_of(p_user_id, p_memory_id, v_settings.embedding_model);
    perform recall._insert_memories(
        array[v_new], case when v_vector is not null then array[v_vector] end,
        array[v_settings.embedding_model], 'restored',
        jsonb_build_object('restores', p_memory_id));
    return v_new.memory_id;
end;
$function$;

comment on function recall.restore_memory(uuid, uuid) is
    'Undo a merge, retraction, expiry or edit: a new row with the old text follows. Returns its '
    'id. After an edit, the edited row ends; after a merge, the merged memory stays active.';
