-- Store the spans of a job; create the month's partition and retry once when it is missing.
create or replace function recall._write_phases(
    p_phases recall.job_phases[],
    p_retry  boolean default true
)
returns void
language plpgsql
volatile
parallel unsafe
set search_path from current
as $function$
begin
    insert into recall.job_phases
    select p.* from unnest(p_phases) as p;
exception when check_violation then
    -- The values were checked before, so the violation is that the month has no partition.
    if not p_retry then
        raise;
    end if;
    perform recall._ensure_month('recall.job_phases', p_phases[1].created_at, true);
    perform recall._write_phases(p_phases, false);
end;
$function$;

comment on function recall._write_phases(recall.job_phases[], boolean) is
    'Store the spans of a job.';
