-- Convert a span of a job to a row of job_phases: priced by `models`, with secrets masked.
-- A cost of zero for a model that is not in `models` is unknown, so it becomes NULL: health()
-- reports it, and no spending is added. For an encrypted user the text of an error is not stored.
create or replace function recall._phase_row(
    p_job  recall.jobs,
    p_span jsonb
)
returns recall.job_phases
language plpgsql
volatile
parallel unsafe
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_prompt     constant integer := coalesce((p_span ->> 'prompt_tokens')::integer, 0);
    v_completion constant integer := coalesce((p_span ->> 'completion_tokens')::integer, 0);
    v_price      constant bigint  := case when p_span ? 'model_id' then recall._call_cost(
        regexp_replace(p_span ->> 'model_id', '^openai:', ''), v_prompt, v_completion,
        recall._token_number(p_span -> 'cached_tokens')) end;
    v_cost  bigint := (p_span ->> 'cost_microcents')::bigint;
    v_span  jsonb  := p_span;
    v_words text;
begin
    v_cost := case when v_prompt + v_completion = 0 or v_cost > 0 then coalesce(v_cost, 0)
                   when v_price is not null then coalesce(v_cost, v_price) end;
    -- Search the error, and a phase or model only when it is not a known one. Most spans have
    -- nothing to search, which saves compiling the pattern: 3 ms whenever the words of a
    -- consolidation have evicted it from PostgreSQL's cache of 32 regular expressions.
    v_words := concat_ws(
        E'\n',
        case when v_span ->> 'phase' <> all ('{extract,consolidate,summary,merge,verify,pattern,'
                                             'embed,persist}'::text[]) then v_span ->> 'phase' end,
        v_span ->> 'error',
        case when v_price is null then v_span ->> 'model_id' end);
    if v_words <> '' and recall._may_hold_secret(v_words) then
        v_span := recall._masked_json(v_span, recall._settings(p_job.user_id));
    end if;
    return row(
        p_job.user_id, p_job.job_id, recall.uuidv7(), p_job.kind, p_job.session_id,
        v_span ->> 'phase', clock_timestamp(), (v_span ->> 'duration_ms')::double precision,
        coalesce((v_span ->> 'items')::integer, 0), v_prompt, v_completion, v_cost,
        v_span ->> 'model_id',
        case when v_span ->> 'error' is null then null
             when recall._is_sealed_user(p_job.user_id) then 'not kept: the user is encrypted'
             else v_span ->> 'error' end,
        (v_span ->> 'from_turn')::integer, (v_span ->> 'to_turn')::integer)::recall.job_phases;
end;
$function$;

comment on function recall._phase_row(recall.jobs, jsonb) is
    'A span as a row of job_phases: priced, with secrets masked; no error text of an encrypted '
    'user.';
