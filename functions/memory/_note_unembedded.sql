-- recall._note_unembedded(user, memory)
-- A memory was written without its vector. The first one since enqueue_missing_embeddings looked is
-- marked, and found by its index; the others add nothing. The caller holds the user's row. Planned
-- as in _lock_user.
create or replace function recall._note_unembedded(
    p_user_id   uuid,
    p_memory_id uuid
)
returns void
language plpgsql
volatile
parallel unsafe
set search_path from current
set plan_cache_mode = force_custom_plan
as $function$
begin
    update recall.users as u
       set embedding_due = true
     where u.user_id = p_user_id
       and not u.embedding_due;
    if found then
        update recall.memory_store as m
           set embedding_due = true
         where m.user_id   = p_user_id
           and m.memory_id = p_memory_id;
    end if;
end;
$function$;

comment on function recall._note_unembedded(uuid, uuid) is
    'Note that a user has a memory without a vector.';
