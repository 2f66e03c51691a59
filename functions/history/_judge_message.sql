-- Return the problem of a message after its path, or NULL when it is valid.
-- A valid message is always valid in the chat format, so that a compiled context never has to omit
-- one. For a malformed field it returns the name only; recall._check_messages adds the value.
-- PostgreSQL prepares an expression of PL/pgSQL when it is first reached, so a valid message does
-- not pay for the texts of problems.
create or replace function recall._judge_message(
    p_message jsonb
)
returns text
language plpgsql
stable
parallel safe
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_role    text;
    v_content text;
    v_problem text;
begin
    if jsonb_typeof(p_message) <> 'object' then
        return ' is not an object';
    end if;
    v_role    := p_message ->> 'role';
    v_content := coalesce(jsonb_typeof(p_message -> 'content'), 'null');
    if v_role not in ('system', 'developer', 'user', 'assistant', 'tool', 'function')
       or jsonb_typeof(p_message -> 'role') is distinct from 'string' then
        return format('.role is %s', coalesce(left(v_role, 80), 'missing'));
    end if;
    if v_content not in ('string', 'array', 'null')
       or v_content = 'array' and v_role = 'function' then
        return format('.content is %s, not text%s', v_content,
                      case when v_role <> 'function' then ' or a list of parts' end);
    end if;
    if v_content = 'null' and v_role <> 'assistant' then
        return '.content is missing';
    end if;
    if v_role <> 'assistant' and jsonb_typeof(p_message -> 'tool_calls') <> 'null' then
        return format('.tool_calls in a message of role %s', v_role);
    end if;
    if v_role = 'tool' and jsonb_typeof(p_message -> 'tool_call_id') is distinct from 'string' then
        return '.tool_call_id is missing';
    end if;
    if v_role = 'function' and jsonb_typeof(p_message -> 'name') is distinct from 'string' then
        return '.name is missing in a message of role function';
    end if;

    if v_content = 'array' then
        v_problem := recall._judge_parts(v_role, p_message -> 'content');
        if v_problem is null and v_role not in ('assistant', 'tool')
           and p_message -> 'content' <> '[]'
           and recall._shown_parts(p_message -> 'content') is null then
            v_problem := format('.content has items only in a message of role %s', v_role);
        end if;
    end if;
    if v_problem is null and jsonb_typeof(p_message -> 'tool_calls') <> 'null' then
        v_problem := recall._judge_tool_calls(p_message -> 'tool_calls');
    end if;
    if v_problem is null
       and p_message - '{role,content,tool_calls,tool_call_id}'::text[] <> '{}' then
        v_problem := '.' || recall._wrong_message_field(p_message);
    end if;
    return v_problem;
end;
$function$;

comment on function recall._judge_message(jsonb) is
    'The problem of a message, after its path; NULL when it is valid.';
