-- Reject the change that would store vectors of a user who was encrypted without them.
-- Vectors reveal texts. A driver asks the database whether to send them, so one update of the row
-- would make every driver send them.
-- Raises  RC006.
create or replace function recall._refuse_vectors()
returns trigger
language plpgsql
volatile
parallel unsafe
set search_path to pg_catalog, recall, pg_temp
as $function$
begin
    raise exception using
        errcode = 'RC006',
        message = format('user %s was encrypted without vectors', old.user_id),
        hint    = 'Vectors are chosen once. Keep the messages and facts; forget the user, seal '
                  'with p_with_vectors, and let a driver write them again.';
end;
$function$;

comment on function recall._refuse_vectors() is
    'Trigger: reject vectors of a user who was encrypted without them.';
