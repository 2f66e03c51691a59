-- recall._has_unembedded(user, model) -> does an active memory lack a vector of the model?
create or replace function recall._has_unembedded(
    p_user_id uuid,
    p_model   text
)
returns boolean
language plpgsql
stable
parallel safe
set search_path from current
as $function$
begin
    return exists (
        select from recall.memory_store as m
         where m.user_id = p_user_id
           and m.ended_at is null
           and not exists (
                   select from recall.memory_embedding as e
                    where e.user_id         = p_user_id
                      and e.memory_id       = m.memory_id
                      and e.embedding_model = p_model));
end;
$function$;

comment on function recall._has_unembedded(uuid, text) is
    'Whether an active memory of the user has no vector of the model yet.';
