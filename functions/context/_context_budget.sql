-- Return the tokens of a context by what uses them.
create or replace function recall._context_budget(
    p_session    recall.sessions,
    p_tools      bigint,
    p_current    integer,
    p_overhead   bigint,
    p_memory     bigint,
    p_recalled   bigint,
    p_working    integer,
    p_note       text,
    p_summary    bigint,
    p_history    bigint,
    p_available  bigint,
    p_is_rated   boolean,
    p_efficiency double precision
)
returns jsonb
language sql
stable
parallel safe
as $function$
    select jsonb_build_object(
               'window', p_session.context_window_size, 'system', p_session.system_prompt_tokens,
               'tools', p_tools, 'response', p_session.max_response_tokens, 'current', p_current,
               'overhead', p_overhead, 'memory', p_memory, 'recalled', p_recalled,
               'working', coalesce(to_jsonb(p_note), to_jsonb(p_working)), 'summary', p_summary,
               'history', p_history, 'available', p_available,
               'used', p_memory + p_recalled + p_working + p_summary + p_history,
               'total', p_session.system_prompt_tokens + p_tools + p_current + p_overhead + p_memory
                        + p_recalled + p_working + p_summary + p_history)
           || case when p_is_rated then jsonb_build_object('efficiency', p_efficiency)
                   else '{}' end;
$function$;

comment on function recall._context_budget(recall.sessions, bigint, integer, bigint, bigint, bigint,
    integer, text, bigint, bigint, bigint, boolean, double precision) is
    'Tokens of a context: window, its parts, what was available and used, and their total.';
