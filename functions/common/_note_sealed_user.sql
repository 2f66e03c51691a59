-- recall._note_sealed_user() -> trigger
-- From the first sealed user on, writes look for readable texts (recall._refuse_plain_insert).
create or replace function recall._note_sealed_user()
returns trigger
language plpgsql
volatile
parallel unsafe
set search_path from current
as $function$
begin
    update recall.settings as s
       set has_sealed_users = true
     where not s.has_sealed_users;
    return null;
end;
$function$;

comment on function recall._note_sealed_user() is
    'Trigger: note that there are sealed users from now on.';
