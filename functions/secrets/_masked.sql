-- recall._masked(text, settings) -> the text as a model's words are stored
-- Marked where settings.secrets is not keep: a job is not refused for what its model says.
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
    'A text with marks in the place of secrets, unless settings.secrets is keep.';
