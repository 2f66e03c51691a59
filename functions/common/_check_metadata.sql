-- Reject metadata that is not a JSON object.
-- Raises  RC003.
create or replace function recall._check_metadata(
    p_metadata jsonb
)
returns void
language plpgsql
immutable
parallel safe
set search_path to pg_catalog, recall, pg_temp
as $function$
begin
    if p_metadata is null or jsonb_typeof(p_metadata) <> 'object' then
        raise exception using
            errcode = 'RC003',
            message = format('metadata is %s, not a JSON object',
                             coalesce(jsonb_typeof(p_metadata), 'null')),
            hint    = 'Pass an object such as ''{}''.';
    end if;
end;
$function$;

comment on function recall._check_metadata(jsonb) is
    'Reject metadata that is not a JSON object (RC003).';
