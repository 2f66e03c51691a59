-- recall._note_unembedded(user) -> is it the first one?
-- A memory is written without its vector. The first one since enqueue_missing_embeddings looked is
-- marked, and found by its index; the others add nothing. The caller holds the user's row. Planned
-- as in _lock_user.
create or replace function recall._note_unembedded(
    p_user_id uuid
)
returns boolean
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
    return found;
end;
$function$;

comment on function recall._note_unembedded(uuid) is
    'Note that a user has a memory without a vector; was there none noted yet?';
