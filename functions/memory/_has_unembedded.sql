-- Tell whether an active memory of the user lacks a vector of the model.
-- memory_embedding has vectors of active memories only, so two counts suffice. An encrypted user
-- without vectors has none at all. A custom plan locks one partition of each table.
create or replace function recall._has_unembedded(
    p_user_id uuid,
    p_model   text
)
returns boolean
language plpgsql
stable
parallel safe
set search_path to pg_catalog, recall, pg_temp
set plan_cache_mode = force_custom_plan
as $function$
begin
    return coalesce((
        select u.active_memory_count
          from recall.users as u
         where u.user_id = p_user_id
           and u.has_vectors
    ) > (
        select count(*)
          from recall.memory_embedding as e
         where e.user_id         = p_user_id
           and e.embedding_model = p_model), false);
end;
$function$;

comment on function recall._has_unembedded(uuid, text) is
    'Whether an active memory of the user has no vector of the model yet.';
