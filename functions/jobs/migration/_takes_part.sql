-- Tell whether a change of the installation's embedding model concerns a user.
-- A user with a model of their own keeps it. An encrypted user may have no vectors.
create or replace function recall._takes_part(
    p_user_id uuid
)
returns boolean
language sql
stable
parallel safe
as $function$
    select coalesce((
        select u.has_vectors and not u.overrides ? 'embedding_model'
          from recall.users as u
         where u.user_id = p_user_id), false);
$function$;

comment on function recall._takes_part(uuid) is
    'Whether a change of the embedding model concerns a user: not one with another model.';
