-- Divide the budget between memories, working memory and history, by the kind of turn.
-- Outside tool-heavy work, the working block may take half of the memories' share. In layout
-- cache_stable history gets a continuation's share of p_stable, which does not depend on the turn,
-- so that its window stays in place. Memories that are fixed for a session get the rest of
-- p_stable, or memory_budget. Others may use what history_budget withholds from history.
create or replace function recall._context_shares(
    p_task         text,
    p_total        bigint,
    p_options      jsonb,
    p_stable       bigint,
    p_settings     recall.settings,
    out o_memory   bigint,
    out o_working  bigint,
    out o_history  bigint,
    out o_is_fixed boolean
)
language plpgsql
immutable
parallel safe
set search_path from current
as $function$
declare
    v_knowledge   constant numeric := 0.40;
    v_new_session constant numeric := 0.50;
    v_tool_heavy  constant numeric := 0.10;
    v_tool_work   constant numeric := 0.20;
    v_stable      bigint;
begin
    o_is_fixed := recall._has_fixed_memories(p_options);
    o_memory := floor(p_total * case p_task
        when 'knowledge' then v_knowledge
        when 'new_session' then v_new_session
        when 'tool_heavy' then v_tool_heavy
        else p_settings.continuation_memory_share::numeric
    end);
    o_working := case when p_task = 'tool_heavy'
                      then floor(p_total * v_tool_work)
                      else o_memory / 2 end;
    if o_is_fixed or p_options ->> 'layout' = 'cache_stable' then
        v_stable := floor((1 - p_settings.continuation_memory_share::numeric) * p_stable);
    end if;
    if o_is_fixed then
        o_memory := least(p_total, coalesce((p_options ->> 'memory_budget')::bigint,
                                            p_stable - v_stable));
    end if;

    if p_options ->> 'layout' = 'cache_stable' then
        o_history := least(p_total, v_stable) - case when o_is_fixed then o_memory else 0 end;
    else
        o_history := p_total - o_memory - case when p_task = 'tool_heavy' then o_working else 0 end;
    end if;
    if p_options ? 'history_budget' then
        o_history := least(o_history, (p_options ->> 'history_budget')::bigint);
        if not o_is_fixed then
            o_memory := greatest(o_memory, p_total - (p_options ->> 'history_budget')::bigint);
        end if;
    end if;
end;
$function$;

comment on function recall._context_shares(text, bigint, jsonb, bigint, recall.settings) is
    'Tokens of memories, working memory and history, before unused tokens are lent.';
