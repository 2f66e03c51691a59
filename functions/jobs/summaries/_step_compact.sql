-- Run a compaction: replace a session's oldest turns by a summary, part by part.
-- The result names its turns, and the effect compares them. The turns are not read again once the
-- summary reaches the last of them.
create or replace function recall._step_compact(
    p_job  recall.jobs,
    p_work jsonb
)
returns jsonb
language plpgsql
stable
parallel safe
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_nothing constant text := 'Nothing was said.';
    v_limits constant jsonb := jsonb '{"user": 8000, "assistant": 4000, "tool": 2000}';
    v_made   constant jsonb := case when p_work ? 'said' then p_work #> '{answered,keep}'
                                    else p_work -> 'made' end;
    v_window jsonb := v_made -> 'window';
    v_input  jsonb := jsonb '{}';
    v_step   jsonb;
begin
    if v_made -> 'read' is distinct from v_made -> 'through_turn' or v_window is null then
        v_input  := recall._compact_input(p_job.user_id, p_job.session_id,
                                            (v_made ->> 'read')::integer);
        v_window := jsonb_build_object('from_turn', v_input -> 'from_turn',
                                       'through_turn', v_input -> 'through_turn',
                                       'retracted', v_input -> 'retracted');
        -- The window that is due may have changed; a summary of other turns is useless.
        if v_made -> 'window' <> v_window then
            return jsonb '{"moved": true}';
        end if;
    end if;
    v_step := recall._summary_step(p_job, p_work, 'compact', v_input,
                                   (v_input ->> 'target_tokens')::integer, v_limits);
    if v_step ? 'chat' then
        v_step := jsonb_set(v_step, '{chat,keep,window}', v_window);
    end if;
    if v_step ? 'result' and v_step #> '{result,content}' is null
       and v_input ->> 'summary' is null and (p_work -> 'is_sealed')::boolean
       and (v_input ->> 'from_turn')::integer <= (v_input ->> 'through_turn')::integer then
        -- The worker encrypts this fixed text.
        return jsonb_build_object('select', jsonb_build_object(
            'keep', jsonb_build_object('through_turn', v_input -> 'through_turn',
                                       'read', v_input -> 'through_turn', 'taken', 0,
                                       'window', v_window),
            'schema', jsonb '{"type": "object", "properties": {"summary": {"type": "string"}}}',
            'request', jsonb_build_object('type', 'select', 'purpose', 'select',
                                          'summary', v_nothing)));
    end if;
    if v_step ? 'result' then
        -- No turn holds a message: the summary before them covers them, too.
        v_step := jsonb_set(v_step, '{result}', v_window || (v_step -> 'result')
            || case when v_step #> '{result,content}' is not null then jsonb '{}'
                    else jsonb_build_object('content', coalesce(v_input ->> 'summary',
                                                                v_nothing)) end);
    end if;
    return v_step;
end;
$function$;

comment on function recall._step_compact(recall.jobs, jsonb) is
    'The step of a compaction: compact, embed; for an encrypted user without messages also '
    'select.';
