-- Mask secrets in a model's text, unless settings.secrets is keep.
-- A job does not fail because of its model's output, so `refuse` masks here, too.
create or replace function recall._masked(
    p_text     text,
    p_settings recall.settings
)
returns text
language sql
immutable
parallel safe
as $function$
    select case
        when (p_settings).secrets = 'keep' then p_text
        else recall._redact(p_text, (p_settings).secret_classes)
    end;
$function$;

comment on function recall._masked(text, recall.settings) is
    'A text with masked secrets, unless settings.secrets is keep.';
