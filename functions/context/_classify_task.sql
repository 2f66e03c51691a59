-- Classify the turn as new_session, tool_heavy, knowledge or continuation.
-- new_session: there are memories, but no turns, not even compacted ones. tool_heavy: a third of
-- the newest messages are tool messages. knowledge: the query asks about the past or the user, and
-- shares no word with these messages. continuation: everything else.
create or replace function recall._classify_task(
    p_request recall.context_request,
    p_window  recall.history_window
)
returns text
language plpgsql
stable
parallel safe
set search_path to pg_catalog, recall, pg_temp
set plan_cache_mode = force_generic_plan
as $function$
declare
    v_recent   constant jsonb[]   := p_window.messages[1:12];
    v_language constant regconfig := (p_request.settings).language::regconfig;
    v_message jsonb;
    v_tools   integer := 0;
    v_words   text[];
    v_text    text;
    v_left    integer := 20000;
begin
    if cardinality(v_recent) = 0 then
        return case when p_window.after_turn = 0 and exists (
                             select from recall.users as u
                              where u.user_id = (p_request.session).user_id
                                and u.active_memory_count > 0)
                    then 'new_session' else 'continuation' end;
    end if;

    foreach v_message in array v_recent loop
        v_tools := v_tools + (v_message ? 'tool_call_id')::integer;
    end loop;
    if 3 * v_tools >= cardinality(v_recent) then
        return 'tool_heavy';
    end if;

    if p_request.query collate pg_c_utf8
       ~* ('\m(remember|recall|remind|last time|previous|previously|earlier|before|ago'
           '|used to|my|mine|about me|(did|do|am|was|have|had) i|(did|have) we)\M') then
        -- One message after the other: the newest usually shares a word, and 20,000 characters
        -- take 1.3 ms.
        v_words := tsvector_to_array(recall._text_words(v_language, left(p_request.query, 10000)));
        foreach v_message in array v_recent loop
            continue when jsonb_typeof(v_message -> 'content') <> 'string';
            v_text := left(v_message ->> 'content', v_left);
            if v_words && tsvector_to_array(recall._text_words(v_language, v_text)) then
                return 'continuation';
            end if;
            v_left := v_left - length(v_text);
        end loop;
        return 'knowledge';
    end if;
    return 'continuation';
end;
$function$;

comment on function recall._classify_task(recall.context_request, recall.history_window) is
    'Kind of turn by fixed rules: new_session, tool_heavy, knowledge or continuation.';
