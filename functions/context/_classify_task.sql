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
set search_path from current
set plan_cache_mode = force_generic_plan
as $function$
declare
    v_recent   constant jsonb[]   := p_window.messages[1:12];
    v_language constant regconfig := (p_request.settings).language::regconfig;
    v_message jsonb;
    v_tools   integer := 0;
    v_text    text;
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
        select string_agg(r.message ->> 'content', ' ')
          into v_text
          from unnest(v_recent) as r (message)
         where jsonb_typeof(r.message -> 'content') = 'string';
        if not exists (
            select
              from unnest(to_tsvector(v_language, p_request.query)) as q
             where q.lexeme = any (
                tsvector_to_array(to_tsvector(v_language, left(v_text, 20000))))
        ) then
            return 'knowledge';
        end if;
    end if;
    return 'continuation';
end;
$function$;

comment on function recall._classify_task(recall.context_request, recall.history_window) is
    'Kind of turn by fixed rules: new_session, tool_heavy, knowledge or continuation.';
