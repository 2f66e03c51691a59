-- recall._note_unembedded(user)
-- A memory was written without its vector: enqueue_missing_embeddings finds the user by this flag.
-- The caller holds the user's row. Planned as in _lock_user.
create or replace function recall._note_unembedded(
    p_user_id uuid
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
end;
$function$;

comment on function recall._note_unembedded(uuid) is
    'Note that a user has a memory without a vector.';
