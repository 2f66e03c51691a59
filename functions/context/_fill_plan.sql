-- Fill the budget with memories, recalled turns and history.
-- Memories get p_share (NULL: no limit) and what history left. Recalled turns get up to half of it,
-- and what memories leave. Then history takes the rest, and its turns are no longer quoted; in
-- layout cache_stable its window stays. Memories that are fixed for a session precede quotations.
create or replace function recall._fill_plan(
    p_plan      recall.context_plan,
    p_request   recall.context_request,
    p_window    recall.history_window,
    p_share     bigint,
    p_with_left boolean
)
returns recall.context_plan
language plpgsql
stable
parallel safe
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_options constant jsonb  := p_request.options;
    v_total   constant bigint := p_request.available - p_window.summary_tokens
                                 - p_plan.working_tokens;
    v_room    constant bigint := least(
        v_total - coalesce(p_window.cumulative[p_window.kept], p_window.task_tokens), p_share,
        (v_options ->> 'memory_budget')::bigint);
    v_heading bigint := 32;
    -- Memories in an order that the caller gave have no scores to compare packings by.
    v_is_rated constant boolean := v_options -> 'efficiency' = 'true'
                                   and not v_options ? 'memory_ids';
    v_packed  record;
    v_quotes  record;
    v_told    uuid[];
    v_before  bigint;
    v_most    bigint;
begin
    p_plan.recalled        := '{}';
    p_plan.recalled_tokens := 0;
    p_plan.kept            := p_window.kept;
    if v_options -> 'recalled' = 'true' then
        p_plan.recalled := recall._recalled_turns(p_request, p_window.turns[p_window.kept]);
        v_quotes := recall._pack_turns(
            p_request, p_plan.recalled, null,
            case when p_request.has_fixed then 0 else v_room / 2 end);
        p_plan.recalled_tokens := v_quotes.o_tokens;
    end if;

    -- Tokens of heading and delimiters.
    if v_options ? 'heading' then
        v_heading := 16 + recall._estimate_tokens(p_request.heading);
    end if;
    v_heading := v_heading + (p_request.settings).tokens_per_message;
    p_plan.memory_budget := v_room - p_plan.recalled_tokens - v_heading;
    p_with_left := p_with_left or v_is_rated;
    v_packed := recall._pack_memories(
        p_request, recall._candidate_memories(p_request, p_plan.memory_budget, p_with_left),
        p_plan.memory_budget, p_with_left);
    p_plan.memories      := v_packed.o_memories;
    p_plan.memory_tokens := case when v_packed.o_tokens > 0 then v_packed.o_tokens + v_heading
                                 else 0 end;
    if v_is_rated then
        p_plan.efficiency := recall._packing_efficiency(p_plan.memories, p_plan.memory_budget);
    end if;

    if cardinality(p_plan.recalled) > 0 then
        -- A turn beside the fact drawn from it repeats the fact. Without such turns, 1,000 tokens
        -- for both hold four in a hundred more of what a question needs
        -- (benchmarks/memory_exam.py). Turns of episodes and patterns stay: their lines say less
        -- than their turns.
        v_told := array(
            select (c.found).memory_id from unnest(p_plan.memories) as c where c.taken);
        v_told := array(
            select t.id
              from recall.memory_store as m
             cross join lateral unnest(m.source_turn_ids) as t (id)
             where m.user_id   = (p_request.session).user_id
               and m.memory_id = any (v_told)
               and m.kind not in ('episode', 'pattern'));
        v_quotes := recall._pack_turns(
            p_request,
            array(select p_plan.recalled[t.ordinality]
                    from unnest(p_plan.recalled) with ordinality as t
                   where t.message_id <> all (v_told)
                   order by t.ordinality),
            null, v_room - p_plan.memory_tokens);
        p_plan.recalled        := v_quotes.o_turns;
        p_plan.recalled_tokens := v_quotes.o_tokens;
    end if;
    if v_options ->> 'layout' = 'cache_stable' then
        return p_plan;
    end if;

    v_most := coalesce((v_options ->> 'history_budget')::bigint - p_window.summary_tokens,
                       p_request.available);
    loop
        p_plan.kept := coalesce(
            width_bucket(least(v_total - p_plan.memory_tokens - p_plan.recalled_tokens, v_most),
                         p_window.cumulative), 0);
        exit when cardinality(p_plan.recalled) = 0;
        v_before := p_plan.recalled_tokens;
        v_quotes := recall._pack_turns(p_request, p_plan.recalled, p_window.turns[p_plan.kept],
                                       v_before);
        p_plan.recalled        := v_quotes.o_turns;
        p_plan.recalled_tokens := v_quotes.o_tokens;
        exit when p_plan.recalled_tokens = v_before;
    end loop;
    return p_plan;
end;
$function$;

comment on function recall._fill_plan(recall.context_plan, recall.context_request,
    recall.history_window, bigint, boolean) is
    'A plan with memories, recalled turns and history; each may use what another leaves.';
