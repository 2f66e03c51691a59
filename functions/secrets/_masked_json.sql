-- Mask secrets in a model's JSON value, unless settings.secrets is keep.
create or replace function recall._masked_json(
    p_value    jsonb,
    p_settings recall.settings
)
returns jsonb
language sql
immutable
parallel safe
as $function$
    select case
        when (p_settings).secrets = 'keep' then p_value
        else recall._redact_json(p_value, (p_settings).secret_classes)
    end;
$function$;

comment on function recall._masked_json(jsonb, recall.settings) is
    'A JSON value with masked secrets, unless settings.secrets is keep.';
