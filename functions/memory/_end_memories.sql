-- End many memories of one user at once, without successors, for sweeps.
-- It writes the same as recall._end_memory: rows, vectors, count, audit. The caller has locked the
-- user and has checked that the memories are active.
create or replace function recall._end_memories(
    p_user_id    uuid,
    p_memory_ids uuid[],
    p_reason     text,
    p_now        timestamptz,
    p_detail     jsonb default '{}'
)
returns void
language plpgsql
volatile
parallel unsafe
set search_path from current
set plan_cache_mode = force_generic_plan
as $function$
begin
    if p_memory_ids = '{}' then
        return;
    end if;

    update recall.memory_store as m
       set ended_at      = greatest(p_now, m.created_at),  -- the clock may have been set back
           end_reason    = p_reason,
           promotion_due = false,
           updated_at    = p_now
     where m.user_id   = p_user_id
       and m.memory_id = any (p_memory_ids)
       and m.end_reason is null;

    with moved as (
        delete from recall.memory_embedding as e
         where e.user_id   = p_user_id
           and e.memory_id = any (p_memory_ids)
        returning e.memory_id, e.embedding_model, e.embedding
    )
    insert into recall.memory_embedding_ended (user_id, memory_id, embedding_model, embedding,
                                               ended_at)
    select p_user_id, v.memory_id, v.embedding_model, v.embedding, p_now
      from moved as v;

    perform recall._log_events(p_user_id, p_memory_ids, p_reason, array[p_detail],
                               p_change => -cardinality(p_memory_ids));
end;
$function$;

comment on function recall._end_memories(uuid, uuid[], text, timestamptz, jsonb) is
    'End active memories of one user: rows, vectors, count and audit.';
