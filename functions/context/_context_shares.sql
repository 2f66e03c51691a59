-- Divide the budget between memories, working memory and history, by the kind of turn.
-- Outside tool-heavy work, the working block may take half of the memories' share. In layout
-- cache_stable history gets a continuation's share of the stable tokens. They do not depend on the
-- turn, so its window stays in place. Memories that are fixed for a session get the rest of
-- them, or memory_budget. Others may use what history_budget withholds from history.
create or replace function recall._context_shares(
    p_request     recall.context_request,
    p_task        text,
    out o_memory  bigint,
    out o_working bigint,
    out o_history bigint
)
language plpgsql
immutable
parallel safe
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_knowledge   constant numeric := 0.40;
    v_new_session constant numeric := 0.50;
    v_tool_heavy  constant numeric := 0.10;
    v_tool_work   constant numeric := 0.20;
    v_usual       constant numeric := (p_request.settings).continuation_memory_share;
    v_options     constant jsonb   := p_request.options;
    v_total       constant bigint  := p_request.available;
    v_stable      bigint;
begin
    o_memory := floor(v_total * case p_task
        when 'knowledge' then v_knowledge
        when 'new_session' then v_new_session
        when 'tool_heavy' then v_tool_heavy
        else v_usual
    end);
    o_working := case when p_task = 'tool_heavy'
                      then floor(v_total * v_tool_work)
                      else o_memory / 2 end;
    if p_request.has_fixed or v_options ->> 'layout' = 'cache_stable' then
        v_stable := floor((1 - v_usual) * p_request.stable);
    end if;
    if p_request.has_fixed then
        o_memory := least(v_total, coalesce((v_options ->> 'memory_budget')::bigint,
                                            p_request.stable - v_stable));
    end if;

    if v_options ->> 'layout' = 'cache_stable' then
        o_history := least(v_total, v_stable)
                     - case when p_request.has_fixed then o_memory else 0 end;
    else
        o_history := v_total - o_memory - case when p_task = 'tool_heavy' then o_working else 0 end;
    end if;
    if v_options ? 'history_budget' then
        o_history := least(o_history, (v_options ->> 'history_budget')::bigint);
        if not p_request.has_fixed then
            o_memory := greatest(o_memory, v_total - (v_options ->> 'history_budget')::bigint);
        end if;
    end if;
end;
$function$;

comment on function recall._context_shares(recall.context_request, text) is
    'Tokens of memories, working memory and history, before unused tokens are lent.';
