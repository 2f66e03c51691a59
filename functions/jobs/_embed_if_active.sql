-- recall._embed_if_active(user, memory, embedding, model)
-- A memory may have ended between input and result; then its vector is not wanted any more.
create or replace function recall._embed_if_active(
    p_user_id   uuid,
    p_memory_id uuid,
    p_embedding halfvec,
    p_model     text
)
returns void
language plpgsql
volatile
parallel unsafe
set search_path from current
as $function$
begin
    if exists (
        select from recall.memory_store as m
         where m.user_id   = p_user_id
           and m.memory_id = p_memory_id
           and m.ended_at is null
    ) then
        perform recall.add_embedding(p_user_id, p_memory_id, p_embedding, p_model);
    end if;
end;
$function$;

comment on function recall._embed_if_active(uuid, uuid, halfvec, text) is
    'add_embedding for a memory that is still active.';
