-- recall._ledger_classes(settings) -> the classes of secrets that the ledger masks
-- Credentials always, whatever settings.secrets says; personal classes where they are set.
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
    'Classes of secrets that are never stored in the ledger.';
