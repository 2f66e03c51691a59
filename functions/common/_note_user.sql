-- recall._note_user() -> trigger
-- Most installations have no sealed user, and none with settings of his own. As long as that is so
-- one row says it, and no call needs to look (recall._settings, recall._refuse_plain_insert).
create or replace function recall._note_user()
returns trigger
language plpgsql
volatile
parallel unsafe
set search_path from current
as $function$
begin
    update recall.settings as s
       set has_sealed_users = s.has_sealed_users or new.is_sealed,
           has_overrides    = s.has_overrides or new.overrides <> '{}'
     where new.is_sealed and not s.has_sealed_users
        or new.overrides <> '{}' and not s.has_overrides;
    return null;
end;
$function$;

comment on function recall._note_user() is
    'Trigger: note that there are sealed users, or users with settings of their own.';
