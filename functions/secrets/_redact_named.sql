-- Mask a JSON value found under the name of a secret.
-- A text or number is the secret, whatever its form; in a list every text is. Empty, masked and
-- encrypted values stay.
create or replace function recall._redact_named(
    p_value   jsonb,
    p_classes text[]
)
returns jsonb
language plpgsql
immutable
parallel safe
set search_path to pg_catalog, recall, pg_temp
as $function$
begin
    return case
        when jsonb_typeof(p_value) in ('string', 'number')
             and p_value #>> '{}' !~ '^(?:$|\[secret: |sealed:v1:)'
            then to_jsonb('[secret: password]'::text)
        when jsonb_typeof(p_value) = 'array' then (
            select coalesce(jsonb_agg(
                       case jsonb_typeof(e.item)
                           when 'string' then recall._redact_named(e.item, p_classes)
                           else recall._redact_json(e.item, p_classes)
                       end order by e.place), '[]')
              from jsonb_array_elements(p_value) with ordinality as e (item, place))
        else recall._redact_json(p_value, p_classes)
    end;
end;
$function$;

comment on function recall._redact_named(jsonb, text[]) is
    'A JSON value under the name of a secret, masked.';
