-- Tell whether vectors of this user's texts are stored.
create or replace function recall._has_vectors(
    p_user_id uuid
)
returns boolean
language sql
stable
parallel safe
as $function$
    select coalesce((recall._read_user(p_user_id)).has_vectors, true);
$function$;

comment on function recall._has_vectors(uuid) is
    'Whether vectors of a user''s texts are stored; false for a user encrypted without vectors.';
