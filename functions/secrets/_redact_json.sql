-- Mask secrets in every text of a JSON value, keys included.
-- A value under a name such as "password" is masked whole: a number, a list of texts, or the value
-- of {"name": "password", "value": …}. Ids stay, since the digits of one in twenty thousand could
-- be a card's.
create or replace function recall._redact_json(
    p_value   jsonb,
    p_classes text[]
)
returns jsonb
language plpgsql
immutable
parallel safe
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_names constant text :=
        '^(?:[\w.-]*' || recall._secret_names() || '|secret|authorization|(?:set-)?cookie)$';
    v_id    constant text := '^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$';
begin
    -- Skip field names that nearly every message has.
    if p_value is null
       or not recall._may_hold_secret(replace(p_value::text, '"token_count"', '""')) then
        return p_value;
    end if;
    return case jsonb_typeof(p_value)
        when 'string' then case
            when p_value #>> '{}' ~ v_id then p_value
            else to_jsonb(recall._redact(p_value #>> '{}', p_classes))
        end
        when 'array' then (
            select coalesce(jsonb_agg(recall._redact_json(e.item, p_classes) order by e.place),
                            '[]')
              from jsonb_array_elements(p_value) with ordinality as e (item, place))
        when 'object' then (
            select coalesce(jsonb_object_agg(
                       recall._redact(e.key, p_classes),
                       case
                           when 'password' = any (p_classes)
                                and (e.key collate pg_c_utf8 ~* v_names
                                     or e.key = 'value'
                                        and (p_value ->> 'name') collate pg_c_utf8 ~* v_names)
                               then recall._redact_named(e.value, p_classes)
                           else recall._redact_json(e.value, p_classes)
                       end), '{}')
              from jsonb_each(p_value) as e)
        else case
            when jsonb_typeof(p_value) = 'number'
                 and recall._redact(p_value #>> '{}', p_classes) is distinct from p_value #>> '{}'
                then to_jsonb(recall._redact(p_value #>> '{}', p_classes))
            else p_value
        end
    end;
end;
$function$;

comment on function recall._redact_json(jsonb, text[]) is
    'A JSON value with readable marks in place of secrets.';
