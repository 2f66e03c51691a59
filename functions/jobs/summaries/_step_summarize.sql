-- Run a rolling summary of a session: ask for each part that fits the model, then for the vector.
create or replace function recall._step_summarize(
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
    v_limits constant jsonb   := jsonb '{"user": 2000, "assistant": 800, "tool": 200}';
    v_target constant integer := 200;
    v_made   constant jsonb   := case when p_work ? 'said' then p_work #> '{answered,keep}'
                                      else p_work -> 'made' end;
    v_input  jsonb := jsonb '{}';
    v_step   jsonb;
    v_session recall.sessions;
    v_before  text;
    v_covered integer;
    v_through integer;
begin
    -- The turns that no summary covers; not read again once the summary reaches the last one.
    if v_made -> 'read' is distinct from v_made -> 'through_turn' or v_made -> 'read' is null then
        v_session := recall._read_session(p_job.user_id, p_job.session_id);
        select s.o_content, s.o_through
          into v_before, v_covered
          from recall._summary_before(v_session, '{rolling,compaction}') as s;
        v_through := coalesce((v_made ->> 'through_turn')::integer, v_session.turn_count);
        v_input := jsonb_build_object(
            'summary', v_before,
            'through_turn', v_through,
            'messages', recall._turns_json(
                v_session, greatest(v_covered, (v_made ->> 'read')::integer) + 1, v_through));
    end if;

    v_step := recall._summary_step(p_job, p_work, 'summarize', v_input, v_target, v_limits);
    if v_step ? 'result' then
        v_step := jsonb_set(v_step, '{result,through_turn}',
                            coalesce(v_step #> '{made,through_turn}', v_input -> 'through_turn'));
    end if;
    return v_step;
end;
$function$;

comment on function recall._step_summarize(recall.jobs, jsonb) is
    'The step of a rolling summary: summarize, embed.';
