-- Raise that an erasure has waited too long for another transaction of the user.
-- Raises  55P03 with the process that writes, if it is known.
create or replace function recall._raise_open_writer(
    p_user_id uuid
)
returns void
language plpgsql
volatile
parallel unsafe
set search_path to pg_catalog, recall, pg_temp
as $function$
begin
    raise exception using
        errcode = '55P03',
        message = format('a transaction that has written data of user %s is still open',
                         p_user_id),
        detail  = coalesce(recall._open_writers(p_user_id), 'Its process is not known.'),
        hint    = 'End that transaction and repeat the erasure. An administrator can end it with '
                  'pg_terminate_backend.';
end;
$function$;

comment on function recall._raise_open_writer(uuid) is
    'Raise that an erasure has waited too long for another transaction of the user (55P03).';
