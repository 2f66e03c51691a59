-- Return the first question of an extraction, or its result when no user message waits.
-- It takes as many turns as the model can read and answer; prompt and schema state the same limit
-- on facts. From the third attempt on it takes fewer turns each time, so that one bad turn does not
-- block the turns before it.
create or replace function recall._extraction_question(
    p_job      recall.jobs,
    p_work     jsonb,
    p_settings recall.settings
)
returns jsonb
language plpgsql
stable
parallel safe
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_limits   constant jsonb   := jsonb '{"user": 8000, "assistant": 1200, "tool": 500}';
    v_sealed   constant boolean := (p_work -> 'is_sealed')::boolean;
    v_prompt   constant recall.prompts := recall._prompt('extract', p_settings.prompt_language);
    v_input    constant jsonb   := recall._extract_input(p_job.user_id, p_job.session_id);
    v_messages constant jsonb   := v_input -> 'messages';
    v_known    constant integer := recall._model_window(p_work, 'extract') / 8;
    -- Tokens of the answer, JSON included, for the facts and the episode of one exchange: 4096
    -- are enough for the ten exchanges of an extraction at chat pace.
    v_per_turn constant integer := 128 * (90 * p_settings.max_facts_per_turn + 50) / 100;
    v_most     constant integer := greatest(1, recall._answer_room(p_work, 'extract', 4096)
                                               / v_per_turn);
    v_head     jsonb;
    v_first    jsonb;
    v_pieces   jsonb;
    v_tokens   integer;
    v_taken    integer := 0;
    v_cursor   jsonb;
    v_users    integer[];
    v_room     integer;
    v_limit    integer;
    v_facts    integer;
    v_kinds    jsonb;
begin
    v_first  := recall._leading_exchanges(v_messages, v_most, p_job.attempts);
    v_cursor := jsonb_build_object('from_turn', v_input -> 'from_turn');
    if v_first <> '[]' then
        v_head  := recall._extraction_head(v_input, v_known, v_sealed);
        v_limit := recall._answer_room(p_work, 'extract', 4096);
        -- The schema lists the kinds, too.
        v_kinds := (select jsonb_agg(k.key) from jsonb_object_keys(v_input -> 'kinds') as k (key));
        v_room  := recall._prompt_room(p_work, v_prompt, v_limit, recall._pieces_tokens(v_head)
                                       + recall._estimate_tokens(v_kinds::text));
        select t.o_pieces, t.o_taken, t.o_tokens
          into v_pieces, v_taken, v_tokens
          from recall._leading_turns(v_first, v_limits, v_room, v_sealed) as t;
        v_users := array(
            select (e.message ->> 'turn_index')::integer
              from jsonb_array_elements(v_first) with ordinality as e (message, place)
             where e.place <= v_taken
               and e.message ->> 'role' = 'user');
    end if;
    v_cursor := v_cursor || jsonb_build_object('through_turn', coalesce(
        (v_messages -> nullif(v_taken, 0) ->> 'turn_index')::integer - 1,
        (v_input ->> 'through_turn')::integer));
    if coalesce(cardinality(v_users), 0) = 0 then
        return jsonb_build_object('result', v_cursor
            || jsonb '{"candidates": [], "episodes": [], "decisions": []}');
    end if;

    v_limit := least(v_limit, greatest(400, v_per_turn * cardinality(v_users)));
    v_facts := least(p_settings.max_facts_per_turn * cardinality(v_users),
                     greatest(1, ((v_limit + cardinality(v_users)) * 100 / 128
                                  - 50 * cardinality(v_users)) / 90));
    return jsonb_build_object('chat', jsonb_build_object(
        'purpose', 'extract',
        'instructions', v_prompt.content,
        'pieces', recall._prompt_parts(array[
            jsonb_build_array(format('Date: %s. At most %s facts.',
                                     v_input ->> 'observation_date', v_facts)),
            v_head, recall._prompt_block('conversation', v_pieces)]),
        'schema', recall._extraction_schema(v_prompt.schema, v_input -> 'kinds', v_facts,
                                            cardinality(v_users)),
        'shorter', recall._extraction_schema(v_prompt.schema, v_input -> 'kinds',
                                             (v_facts + 1) / 2, (cardinality(v_users) + 1) / 2),
        'max_tokens', v_limit,
        'spare', greatest(0, v_room - v_tokens),
        'seal', jsonb '{"facts[].content": "memory", "facts[].slot": "slot",
                        "facts[].tags[]": "tag", "episodes[].content": "memory"}',
        'keep', v_cursor || jsonb_build_object(
            'prompt', recall._prompt_name(v_prompt),
            'facts', v_facts,
            'user_turns', to_jsonb(v_users),
            'turns', (select jsonb_agg(e.message -> 'turn_index' order by e.place)
                        from jsonb_array_elements(v_first) with ordinality as e (message, place)
                       where e.place <= v_taken))));
end;
$function$;

comment on function recall._extraction_question(recall.jobs, jsonb, recall.settings) is
    'First question of an extraction; its empty result when no user message waits.';
