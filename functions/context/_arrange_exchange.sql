-- Put the messages of the last exchange into the order that the chat API requires.
-- Frameworks store parallel calls one by one, and texts between a call and its answer. Adjacent
-- unanswered calls become one message, and texts precede the calls. Arrays run from the newest
-- message to the oldest; the first p_whole entries stay as they are.
create or replace function recall._arrange_exchange(
    p_messages     jsonb[],
    p_ids          uuid[],
    p_turns        integer[],
    p_whole        integer,
    out o_messages jsonb[],
    out o_ids      uuid[],
    out o_turns    integer[]
)
language plpgsql
immutable
parallel safe
set search_path to pg_catalog, recall, pg_temp
set plan_cache_mode = force_generic_plan
as $function$
declare
    v_message   jsonb;
    v_count     integer;
    v_group     integer   := 0;
    v_is_asking boolean   := false;
    v_calls     jsonb[]   := '{}'::jsonb[];
    v_call_ids  uuid[]    := '{}'::uuid[];
    v_waits     integer[] := '{}'::integer[];
    v_open      text[]    := '{}'::text[];
    v_open_of   integer[] := '{}'::integer[];
    v_answers   jsonb[]   := '{}'::jsonb[];
    v_answer_id uuid[]    := '{}'::uuid[];
    v_answer_of integer[] := '{}'::integer[];
begin
    o_messages := '{}'::jsonb[];
    o_ids      := '{}'::uuid[];
    for i in reverse cardinality(p_messages) .. p_whole + 1 loop
        v_message := p_messages[i];
        if v_message ? 'tool_call_id' then
            v_count := array_position(v_open, v_message ->> 'tool_call_id');
            v_is_asking     := false;
            v_open[v_count] := null;
            v_count         := v_open_of[v_count];
            v_answers       := v_answers || v_message;
            v_answer_id     := v_answer_id || p_ids[i];
            v_answer_of     := v_answer_of || v_count;
            v_waits[v_count] := v_waits[v_count] - 1;
            if v_waits[v_count] = 0 then
                o_messages := o_messages || v_calls[v_count];
                o_ids      := o_ids || v_call_ids[v_count];
                for a in 1 .. cardinality(v_answers) loop
                    if v_answer_of[a] = v_count then
                        o_messages := o_messages || v_answers[a];
                        o_ids      := o_ids || v_answer_id[a];
                    end if;
                end loop;
            end if;
        elsif v_message ? 'tool_calls' then
            if v_is_asking then
                -- The text beside the earlier calls becomes a message of its own.
                if v_calls[v_group] -> 'content' not in ('null', '""') then
                    o_messages := o_messages || (v_calls[v_group] - 'tool_calls');
                    o_ids      := o_ids || v_call_ids[v_group];
                    v_call_ids[v_group] := p_ids[i];
                elsif v_message -> 'content' not in ('null', '""') then
                    v_call_ids[v_group] := p_ids[i];
                end if;
                v_calls[v_group] := jsonb_set(
                    v_message, '{tool_calls}',
                    (v_calls[v_group] -> 'tool_calls') || (v_message -> 'tool_calls'));
            else
                v_group     := v_group + 1;
                v_is_asking := true;
                v_calls     := v_calls || v_message;
                v_call_ids  := v_call_ids || p_ids[i];
                v_waits     := v_waits || 0;
            end if;
            v_count   := jsonb_array_length(v_message -> 'tool_calls');
            v_open    := v_open || array(select c.call ->> 'id' from jsonb_array_elements(
                                             v_message -> 'tool_calls') as c (call));
            v_open_of := v_open_of || array_fill(v_group, array[v_count]);
            v_waits[v_group] := v_waits[v_group] + v_count;
        else
            o_messages := o_messages || v_message;
            o_ids      := o_ids || p_ids[i];
        end if;
    end loop;

    -- Joined calls make fewer messages than turns: the last message gets the oldest turn.
    v_count    := cardinality(o_messages);
    o_turns    := p_turns[1:p_whole + v_count - 1] || p_turns[cardinality(p_turns)];
    o_messages := p_messages[1:p_whole] || array(
        select m.message from unnest(o_messages) with ordinality as m (message, n)
         order by m.n desc);
    o_ids      := p_ids[1:p_whole] || array(
        select m.id from unnest(o_ids) with ordinality as m (id, n) order by m.n desc);
end;
$function$;

comment on function recall._arrange_exchange(jsonb[], uuid[], integer[], integer) is
    'History with its last exchange in the order that the chat API requires, newest first.';
