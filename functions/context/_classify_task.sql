-- recall._classify_task(query, newest messages, has memories, settings) -> the kind of turn
-- new_session: no turns yet, but memories. tool_heavy: a third of the last 12 messages are tool
-- messages. knowledge: the query asks about the past or the user, and nothing in the last turns
-- shares a word with it. Else continuation.
create or replace function recall._classify_task(
    p_query        text,
    p_messages     jsonb[],
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
    v_recent constant jsonb[] := p_messages[1:12];
    v_text   text;
begin
    if cardinality(v_recent) = 0 then
        return case when p_has_memories then 'new_session' else 'continuation' end;
    end if;

    if 3 * (select count(*) from unnest(v_recent) as r (message)
             where r.message ->> 'role' = 'tool') >= cardinality(v_recent) then
        return 'tool_heavy';
    end if;

    if p_query ~* ('\m(remember|recall|remind|last time|previous|previously|earlier|before|ago'
                   '|used to|my|mine|about me|(did|do|am|was|have|had) i|(did|have) we)\M') then
        select string_agg(r.message ->> 'content', ' ')
          into v_text
          from unnest(v_recent) as r (message)
         where jsonb_typeof(r.message -> 'content') = 'string';
        if not exists (
            select
              from unnest(to_tsvector(p_settings.language, p_query)) as q
             where q.lexeme = any (
                tsvector_to_array(to_tsvector(p_settings.language, left(v_text, 20000))))
        ) then
            return 'knowledge';
        end if;
    end if;
    return 'continuation';
end;
$function$;

comment on function recall._classify_task(text, jsonb[], boolean,
    recall.settings) is
    'Kind of turn by written rules: new_session, tool_heavy, knowledge or continuation.';
