-- recall._phase_rows(job, phases) -> the spans of a job, as rows
-- Raises  RC003.
create or replace function recall._phase_rows(
    p_job    recall.jobs,
    p_phases jsonb
)
returns recall.job_phases[]
language plpgsql
volatile
parallel unsafe
set search_path from current
as $function$
declare
    v_now  timestamptz := clock_timestamp();
    v_ids  uuid[];
    v_rows recall.job_phases[];
    v_is_sealed constant boolean := recall._is_sealed_user(p_job.user_id);
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

    -- Most spans have nothing to look at, and need no settings.
    if recall._may_hold_secret(
           jsonb_path_query_array(p_phases, '$[*].* ? (@.type() == "string")')::text) then
        p_phases := recall._masked_json(p_phases, recall._settings(p_job.user_id));
    end if;
    v_ids := recall._uuids(jsonb_array_length(p_phases));
    select array_agg(row(
               p_job.user_id, p_job.job_id, v_ids[e.ordinal], p_job.kind, p_job.session_id,
               e.phase ->> 'phase', v_now, (e.phase ->> 'duration_ms')::double precision,
               coalesce((e.phase ->> 'items')::integer, 0), t.prompt, t.completion,
               recall._phase_cost(e.phase ->> 'model_id', t.prompt, t.completion, t.cost),
               e.phase ->> 'model_id',
               case when e.phase ? 'error' and v_is_sealed then 'not kept: the user is sealed'
                    else e.phase ->> 'error' end)::recall.job_phases order by e.ordinal)
      into v_rows
      from jsonb_array_elements(p_phases) with ordinality as e (phase, ordinal)
     cross join lateral (
            select coalesce((e.phase ->> 'prompt_tokens')::integer, 0),
                   coalesce((e.phase ->> 'completion_tokens')::integer, 0),
                   (e.phase ->> 'cost_microcents')::bigint
           ) as t (prompt, completion, cost);
    return coalesce(v_rows, '{}');
end;
$function$;

comment on function recall._phase_rows(recall.jobs, jsonb) is
    'Checked spans of a job, priced, as rows of job_phases (RC003 when they are none).';
