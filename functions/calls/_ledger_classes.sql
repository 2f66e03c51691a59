-- Return the classes of secrets that the call log masks.
-- Credentials are masked whatever settings.secrets says, personal data where the settings ask.
create or replace function recall._ledger_classes(
    p_settings recall.settings
)
returns text[]
language sql
immutable
parallel safe
as $function$
    select '{private_key,api_key,token,password,card}'::text[] || (p_settings).secret_classes;
$function$;

comment on function recall._ledger_classes(recall.settings) is
    'Classes of secrets that the call log never stores.';
