-- recall._write_phases(spans, retry)
-- Should the month be missing, the insert fails, the month is made, and it goes again, once.
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
    -- All values were judged: what is left is that the month has no partition.
    if not p_retry then
        raise;
    end if;
    perform recall._ensure_month('recall.job_phases', p_phases[1].created_at, true);
    perform recall._write_phases(p_phases, false);
end;
$function$;

comment on function recall._write_phases(recall.job_phases[], boolean) is
    'Store the spans of a job.';
