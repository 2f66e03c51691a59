-- Apply settings.secrets to a JSON value: keep, mask or refuse.
-- The error names class and path, and never repeats the secret.
-- Raises  RC003.
create or replace function recall._guard_secrets(
    p_value    jsonb,
    p_settings recall.settings,
    p_what     text
)
returns jsonb
language plpgsql
immutable
parallel safe
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_masked jsonb;
    v_class  text;
    v_from   integer;
begin
    if p_settings.secrets = 'keep' then
        return p_value;
    end if;
    v_masked := recall._redact_json(p_value, p_settings.secret_classes);
    if p_settings.secrets = 'mask' or v_masked is not distinct from p_value then
        return v_masked;
    end if;

    select s.class, s.from_char
      into v_class, v_from
      from recall._secret_spans(
               case when jsonb_typeof(p_value) = 'string' then p_value #>> '{}'
                    else p_value::text end, p_settings.secret_classes) as s
     limit 1;
    raise exception using
        errcode = 'RC003',
        message = format('%s holds a secret (%s) at character %s', p_what,
                         replace(coalesce(v_class, 'password'), '_', ' '),
                         coalesce(v_from, 1)),
        hint    = 'settings.secrets = mask stores such a text with a mark in its place, keep as '
                  'it is.';
end;
$function$;

comment on function recall._guard_secrets(jsonb, recall.settings, text) is
    'A value as settings.secrets allows it to be stored: unchanged, masked, or rejected (RC003).';
