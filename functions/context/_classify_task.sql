-- recall._classify_task(session, query, newest rows, has memories, settings) -> the kind of turn
-- new_session: no turns yet, but memories. tool_heavy: a third of the last 12 messages are tool
-- messages. knowledge: the query asks about the past or the user, and nothing in the last turns
-- shares a word with it. Else continuation.
create or replace function recall._classify_task(
    p_query        text,
    p_rows         recall.conversation_history[],
    p_has_memories boolean,
    p_settings     recall.settings
)
returns text
language plpgsql
stable
parallel safe
set search_path from current
as $function$
declare
    v_recent recall.conversation_history[] := p_rows[1:12];
    v_tools  integer;
    v_text   text;
begin
    if cardinality(v_recent) = 0 then
        return case when p_has_memories then 'new_session' else 'continuation' end;
    end if;

    select count(*) filter (where r.role = 'tool'), string_agg(r.content, ' ')
      into v_tools, v_text
      from unnest(v_recent) as r;
    if 3 * v_tools >= cardinality(v_recent) then
        return 'tool_heavy';
    end if;

    if p_query ~* ('\m(remember|recall|remind|last time|previous|previously|earlier|before|ago'
                   '|used to|my|mine|about me|(did|do|am|was|have|had) i|(did|have) we)\M')
       and not exists (
           select
             from unnest(to_tsvector(p_settings.language, p_query)) as q
            where q.lexeme = any (
                tsvector_to_array(to_tsvector(p_settings.language, left(v_text, 20000))))
       ) then
        return 'knowledge';
    end if;
    return 'continuation';
end;
$function$;

comment on function recall._classify_task(text, recall.conversation_history[], boolean,
    recall.settings) is
    'Kind of turn by written rules: new_session, tool_heavy, knowledge or continuation.';
