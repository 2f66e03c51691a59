-- recall._write_phases(job, phases, retry)
-- Should the month be missing, the insert fails, the month is made, and it goes again, once.
-- Raises  RC003.
create or replace function recall._write_phases(
    p_job    recall.jobs,
    p_phases jsonb,
    p_retry  boolean default true
)
returns void
language plpgsql
volatile
parallel unsafe
set search_path from current
as $function$
declare
    v_now timestamptz := clock_timestamp();
    v_ids uuid[];
begin
    if p_phases is null or jsonb_typeof(p_phases) <> 'array' or exists (
        select from jsonb_array_elements(p_phases) as e (phase)
         where jsonb_typeof(e.phase) <> 'object'
            or jsonb_typeof(e.phase -> 'phase') is distinct from 'string'
            or jsonb_typeof(e.phase -> 'duration_ms') is distinct from 'number'
            or (e.phase ->> 'duration_ms')::numeric not between 0 and 1e12
            or coalesce(e.phase ->> 'items', '0') !~ '^[0-9]{1,9}$'
            or coalesce(e.phase ->> 'prompt_tokens', '0') !~ '^[0-9]{1,9}$'
            or coalesce(e.phase ->> 'completion_tokens', '0') !~ '^[0-9]{1,9}$'
            or coalesce(e.phase ->> 'cost_microcents', '0') !~ '^[0-9]{1,15}$'
    ) then
        raise exception using
            errcode = 'RC003',
            message = 'p_phases is not a list of spans',
            hint    = 'Each has phase and duration_ms; items, prompt_tokens, completion_tokens, '
                      'cost_microcents, model_id and error as needed.';
    end if;
    if p_phases = '[]' then
        return;
    end if;

    v_ids := recall._uuids(jsonb_array_length(p_phases));
    insert into recall.job_phases (user_id, job_id, phase_id, kind, phase, created_at, duration_ms,
                                   items, prompt_tokens, completion_tokens, cost_microcents,
                                   model_id, error)
    select p_job.user_id, p_job.job_id, v_ids[e.ordinal], p_job.kind, e.phase ->> 'phase', v_now,
           (e.phase ->> 'duration_ms')::double precision,
           coalesce((e.phase ->> 'items')::integer, 0),
           coalesce((e.phase ->> 'prompt_tokens')::integer, 0),
           coalesce((e.phase ->> 'completion_tokens')::integer, 0),
           coalesce((e.phase ->> 'cost_microcents')::bigint, 0),
           e.phase ->> 'model_id', e.phase ->> 'error'
      from jsonb_array_elements(p_phases) with ordinality as e (phase, ordinal);
exception when check_violation then
    -- All values were judged: what is left is that the month has no partition.
    if not p_retry then
        raise;
    end if;
    perform recall._ensure_month('recall.job_phases', v_now, true);
    perform recall._write_phases(p_job, p_phases, false);
end;
$function$;

comment on function recall._write_phases(recall.jobs, jsonb, boolean) is
    'Store the spans of a job.';
