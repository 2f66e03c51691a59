-- Raise the error for an unknown user.
-- Raises  RC001, always.
create or replace function recall._unknown_user(
    p_user_id uuid
)
returns void
language plpgsql
immutable
parallel safe
set search_path to pg_catalog, recall, pg_temp
as $function$
begin
    raise exception using
        errcode = 'RC001',
        message = format('there is no user %s', p_user_id),
        hint    = 'recall.user_id(text) gives the UUID of a name.';
end;
$function$;

comment on function recall._unknown_user(uuid) is 'Raise RC001: the user does not exist.';
