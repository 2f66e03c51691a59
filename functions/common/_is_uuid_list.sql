-- Tell whether a JSON value is a list of UUIDs.
create or replace function recall._is_uuid_list(
    p_value jsonb
)
returns boolean
language plpgsql
immutable
parallel safe
set search_path to pg_catalog, recall, pg_temp
as $function$
begin
    return coalesce(
        jsonb_typeof(p_value) = 'array' and not exists (
            select
              from jsonb_array_elements(p_value) as i (item)
             where jsonb_typeof(i.item) <> 'string'
                or not pg_input_is_valid(i.item #>> '{}', 'uuid')),
        false);
end;
$function$;

comment on function recall._is_uuid_list(jsonb) is 'Whether a JSON value is a list of UUIDs.';
