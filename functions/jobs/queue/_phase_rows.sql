-- Check the spans that a worker reports and convert them to rows of job_phases.
-- Raises  RC003.
create or replace function recall._phase_rows(
    p_job    recall.jobs,
    p_phases jsonb
)
returns recall.job_phases[]
language plpgsql
volatile
parallel unsafe
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_rows recall.job_phases[] := '{}'::recall.job_phases[];
    v_span jsonb;
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

    for v_span in select e.phase from jsonb_array_elements(p_phases) as e (phase) loop
        v_rows := v_rows || recall._phase_row(p_job, v_span - '{from_turn,to_turn}'::text[]);
    end loop;
    return v_rows;
end;
$function$;

comment on function recall._phase_rows(recall.jobs, jsonb) is
    'Checked spans of a job, priced, as rows of job_phases (RC003 when they are malformed).';
