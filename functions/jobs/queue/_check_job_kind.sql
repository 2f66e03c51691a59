-- Reject an unknown job kind.
-- Raises  RC003.
create or replace function recall._check_job_kind(
    p_kind text
)
returns void
language plpgsql
immutable
parallel safe
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_kinds constant text[] := array['extract', 'embed', 'summarize', 'compact', 'merge',
                                     'pattern'];
begin
    if p_kind is null or p_kind <> all (v_kinds) then
        raise exception using
            errcode = 'RC003',
            message = format('unknown job kind %s',
                             coalesce(quote_literal(left(p_kind, 80)), 'null')),
            hint    = 'Known kinds: ' || array_to_string(v_kinds, ', ');
    end if;
end;
$function$;

comment on function recall._check_job_kind(text) is
    'Reject an unknown job kind (RC003).';
