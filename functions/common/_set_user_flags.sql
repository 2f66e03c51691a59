-- Set settings.has_sealed_users and has_overrides when the first such user appears (trigger).
-- While both are false, no call looks for encrypted users or settings of a user (recall._settings,
-- recall._refuse_plain_insert).
create or replace function recall._set_user_flags()
returns trigger
language plpgsql
volatile
parallel unsafe
set search_path to pg_catalog, recall, pg_temp
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

comment on function recall._set_user_flags() is
    'Trigger: set has_sealed_users and has_overrides of settings.';
