-- Fill the budget with memories, recalled turns and history.
-- Memories get their share and what history left. Recalled turns get up to half of it, and what
-- memories leave. Then history takes the rest, up to p_regrow (NULL: its window stays), and its
-- turns are no longer quoted. Memories that are fixed for a session precede quotations. p_task:
-- tokens of the current task where history does not reach it; p_cumulative contains them.
create or replace function recall._fill_context(
    p_session         recall.sessions,
    p_query           text,
    p_query_embedding halfvec,
    p_options         jsonb,
    p_as_of           timestamptz,
    p_with_left       boolean,
    p_settings        recall.settings,
    p_total           bigint,
    p_share           bigint,
    p_regrow          bigint,
    p_turns           integer[],
    p_cumulative      bigint[],
    p_kept            integer,
    p_task            bigint,
    out o_room        bigint,
    out o_memories    recall.context_memory[],
    out o_memory      bigint,
    out o_efficiency  double precision,
    out o_recalled    recall.recalled_turn[],
    out o_quoted      bigint,
    out o_kept        integer
)
language plpgsql
stable
parallel safe
set search_path from current
as $function$
declare
    v_heading bigint := recall._memory_heading_tokens(p_options) + p_settings.tokens_per_message;
    v_room    bigint := least(p_total - coalesce(p_cumulative[p_kept], p_task), p_share,
                              (p_options ->> 'memory_budget')::bigint);
    -- Memories in an order that the caller gave have no scores to compare packings by.
    v_is_rated constant boolean := p_options -> 'efficiency' = 'true'
                                   and not p_options ? 'memory_ids';
    v_favored  constant tstzrange := recall._favored_time(p_query, p_options, p_as_of, p_settings);
    v_packed  record;
    v_quotes  record;
    v_before  bigint;
begin
    o_recalled := '{}'::recall.recalled_turn[];
    o_quoted   := 0;
    o_kept     := p_kept;
    if p_options -> 'recalled' = 'true' then
        o_recalled := recall._recalled_turns(
            p_session, p_query, p_query_embedding, p_turns[p_kept], p_as_of,
            v_favored, p_settings);
        v_quotes := recall._pack_turns(
            o_recalled, p_session.session_id, null,
            case when recall._has_fixed_memories(p_options) then 0 else v_room / 2 end,
            p_settings);
        o_quoted := v_quotes.o_tokens;
    end if;

    o_room     := v_room - o_quoted - v_heading;
    v_packed   := recall._pack_memories(
        recall._context_candidates(p_session, p_query, p_query_embedding, p_options, p_as_of,
                                   o_room, p_settings),
        o_room, p_options, p_with_left or v_is_rated,
        recall._context_min_match(p_options, p_query, p_settings),
        case when not lower_inf(v_favored) then v_favored end);
    o_memories := v_packed.o_memories;
    if v_is_rated then
        o_efficiency := recall._packing_efficiency(o_memories, o_room);
    end if;
    o_memory   := case when v_packed.o_tokens > 0 then v_packed.o_tokens + v_heading else 0 end;

    if cardinality(o_recalled) > 0 then
        o_recalled := recall._untold_turns(p_session.user_id, o_recalled, o_memories);
        v_quotes   := recall._pack_turns(o_recalled, p_session.session_id, null, v_room - o_memory,
                                         p_settings);
        o_recalled := v_quotes.o_turns;
        o_quoted   := v_quotes.o_tokens;
    end if;
    while p_regrow is not null loop
        o_kept := coalesce(width_bucket(least(p_total - o_memory - o_quoted, p_regrow),
                                        p_cumulative), 0);
        exit when cardinality(o_recalled) = 0;
        v_before   := o_quoted;
        v_quotes   := recall._pack_turns(o_recalled, p_session.session_id,
                                         p_turns[o_kept], v_before, p_settings);
        o_recalled := v_quotes.o_turns;
        o_quoted   := v_quotes.o_tokens;
        exit when o_quoted = v_before;
    end loop;
end;
$function$;

comment on function recall._fill_context(recall.sessions, text, halfvec, jsonb, timestamptz,
    boolean, recall.settings, bigint, bigint, bigint, integer[], bigint[], integer, bigint) is
    'Memories, recalled turns and history of a context; each may use what another leaves.';
