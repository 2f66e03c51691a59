-- Add an endpoint's error to the state of a job.
-- After a prompt beyond the model's window the step asks again with a smaller one: the named window
-- or three quarters of the last. After eight such errors, at about a tenth, the attempt fails.
create or replace function recall._take_error(
    p_work  jsonb,
    p_error jsonb
)
returns jsonb
language plpgsql
stable
parallel safe
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_purpose constant text    := p_work #>> '{question,purpose}';
    v_shrinks constant integer := (p_work ->> 'shrinks')::integer + 1;
    v_work    constant jsonb   := p_work - 'question';
    v_model   text;
    v_window  integer;
    -- Most endpoints name their window: "maximum context length is 4096", "context size (4096".
    v_told    integer := nullif(recall._token_number(coalesce(
        p_error -> 'context_window',
        to_jsonb((regexp_match(p_error ->> 'message',
                               '(?:context|n_ctx)[^0-9]{0,40}([0-9]{2,9})'))[1]::integer))), 0);
begin
    if p_error ->> 'code' = 'context_length' and v_shrinks <= 8 then
        v_model  := case when v_purpose = 'embed' then 'embed'
                         else recall._chat_model(p_work, v_purpose) end;
        v_window := recall._model_window(p_work, v_purpose);
        v_window := case when v_told between 64 and v_window - 1 then v_told
                         else greatest(64, v_window * 3 / 4) end;
        return v_work || jsonb_build_object(
            'shrinks', v_shrinks, 'tries', 0,
            'windows', (p_work -> 'windows') || jsonb_build_object(v_model, v_window));
    end if;
    return v_work || jsonb_build_object('failure', jsonb_build_object(
        'error', case when recall._is_sealed(p_error ->> 'message') then p_error ->> 'message'
                      else concat_ws(': ', p_error ->> 'code',
                                     coalesce(p_error ->> 'message', 'no message given')) end,
        'is_final', coalesce(p_error -> 'retryable' = 'false', false)
                    and p_error ->> 'code' is distinct from 'context_length'));
end;
$function$;

comment on function recall._take_error(jsonb, jsonb) is
    'State of a job after an error of the worker''s endpoint: a smaller window, or a failure.';
