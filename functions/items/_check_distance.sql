-- Reject an unknown distance of search_items.
-- Raises  RC003.
create or replace function recall._check_distance(
    p_distance text
)
returns void
language plpgsql
immutable
parallel safe
set search_path to pg_catalog, recall, pg_temp
as $function$
begin
    if (p_distance in ('cosine', 'l2', 'inner_product')) is not true then
        raise exception using
            errcode = 'RC003',
            message = format('p_distance is %L', left(p_distance, 80)),
            hint    = 'Pass cosine, l2 or inner_product.';
    end if;
end;
$function$;

comment on function recall._check_distance(text) is 'Reject an unknown distance (RC003).';
