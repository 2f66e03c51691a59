-- Check the arguments of claim_jobs.
-- Raises  RC003.
create or replace function recall._check_claim(
    p_worker text,
    p_kinds  text[],
    p_limit  integer,
    p_lease  interval
)
returns void
language plpgsql
immutable
parallel safe
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_kind text;
begin
    perform recall._check_limit(p_limit);
    perform recall._check_text(p_worker, 'p_worker');
    perform recall._check_lease(p_lease);
    if coalesce(p_worker, '') = '' then
        raise exception using
            errcode = 'RC003',
            message = 'p_worker is empty',
            hint    = 'Pass a name of the worker, such as its host and process id.';
    end if;
    foreach v_kind in array coalesce(p_kinds, '{}') loop
        perform recall._check_job_kind(split_part(v_kind collate "C", ':', 1));
    end loop;
end;
$function$;

comment on function recall._check_claim(text, text[], integer, interval) is
    'Check the arguments of claim_jobs.';
