-- Apply settings.secrets to a text: keep, mask or refuse.
-- Raises  RC003.
create or replace function recall._guard_text(
    p_text     text,
    p_settings recall.settings,
    p_what     text
)
returns text
language sql
immutable
parallel safe
as $function$
    select case
        when (p_settings).secrets = 'keep' then p_text
        else recall._guard_secrets(to_jsonb(p_text), p_settings, p_what) #>> '{}'
    end;
$function$;

comment on function recall._guard_text(text, recall.settings, text) is
    'A text as settings.secrets allows it to be stored: unchanged, masked, or rejected (RC003).';
