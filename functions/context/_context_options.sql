-- Check the options of compile_context, and remove nulls.
-- In layout cache_stable memories may be in the system prompt only when they stay the same during
-- the session: otherwise they would invalidate the cached prefix.
-- Raises  RC003 unknown key or value.
create or replace function recall._context_options(
    p_options jsonb
)
returns jsonb
language plpgsql
stable
parallel safe
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_options jsonb := jsonb_strip_nulls(p_options);
    v_choice  record;
    v_key     text;
begin
    if p_options = '{}' then
        return p_options;
    end if;
    perform recall._check_keys(
        p_options,
        array['task', 'layout', 'selection', 'format', 'placement', 'heading', 'current_message',
              'max_memories', 'max_facts', 'max_episodes', 'max_memory_chars', 'memory_budget',
              'history_budget', 'tools', 'tool_tokens', 'include_working', 'recalled',
              'memories_as_of', 'memory_ids', 'pack', 'scoring', 'decay_mode', 'efficiency',
              'filter', 'through_turn', 'asked_at', 'dates', 'min_match'],
        'p_options');

    for v_choice in
        select *
          from (values
                   ('task', '{continuation,knowledge,new_session,tool_heavy}'::text[]),
                   ('layout', '{standard,cache_stable}'),
                   ('selection', '{hybrid,all,top,split}'),
                   ('format', '{typed,bullets}'),
                   ('placement', '{message,system_prompt}'),
                   ('recalled', '{false,true}'),
                   ('efficiency', '{false,true}'),
                   ('memories_as_of', '{now,session_start}'),
                   ('pack', '{score,density}'),
                   ('scoring', '{hybrid,classic}'),
                   ('decay_mode', '{none,multiply}')
               ) as c (key, known)
         where v_options ? c.key
           and v_options ->> c.key <> all (c.known)
    loop
        raise exception using
            errcode = 'RC003',
            message = format('option %s is %s', v_choice.key,
                             left(v_options ->> v_choice.key, 80)),
            hint    = 'One of ' || array_to_string(v_choice.known, ', ');
    end loop;

    foreach v_key in array array['max_memories', 'max_facts', 'max_episodes', 'max_memory_chars',
                                 'memory_budget', 'history_budget', 'tool_tokens',
                                 'through_turn'] loop
        if coalesce(v_options ->> v_key, '0') !~ '^[0-9]{1,9}$' then
            raise exception using
                errcode = 'RC003',
                message = format('%s is %s', v_key, left(v_options ->> v_key, 80)),
                hint    = 'Pass a whole number of zero or more.';
        end if;
    end loop;

    for v_choice in
        select c.key
          from (values ('tools', 'array'), ('heading', 'string'), ('include_working', 'string'),
                       ('filter', 'object'), ('asked_at', 'string'), ('dates', 'boolean')
               ) as c (key, type)
         where jsonb_typeof(v_options -> c.key) <> c.type
            or c.key = 'asked_at' and not pg_input_is_valid(v_options ->> c.key, 'timestamptz')
    loop
        raise exception using
            errcode = 'RC003',
            message = format('option %s is %s', v_choice.key,
                             left((v_options -> v_choice.key)::text, 80)),
            hint    = 'tools: list of definitions; heading, include_working (a task id): text; '
                      'filter: object; asked_at: time; dates: boolean.';
    end loop;
    if v_options ? 'min_match'
       and (jsonb_typeof(v_options -> 'min_match') <> 'number'
            or not (v_options ->> 'min_match')::numeric between 0 and 1) then
        raise exception using
            errcode = 'RC003',
            message = format('option min_match is %s', left(v_options ->> 'min_match', 80)),
            hint    = 'From 0 (nothing is left out) to 1.';
    end if;
    if v_options ? 'memory_ids'
       and (not recall._is_uuid_list(v_options -> 'memory_ids')
            or coalesce(v_options ->> 'selection', 'hybrid') <> 'hybrid') then
        raise exception using
            errcode = 'RC003',
            message = format('option memory_ids is %s, no list of ids, or stands beside another '
                             'selection', left((v_options -> 'memory_ids')::text, 80)),
            hint    = 'Ids of memories, best first: an order of your own in the place of hybrid.';
    end if;
    if v_options ->> 'layout' = 'cache_stable' and v_options ->> 'placement' = 'system_prompt'
       and not recall._has_fixed_memories(v_options) then
        raise exception using
            errcode = 'RC003',
            message = 'memories that change from turn to turn in the system prompt of a '
                      'cache_stable context',
            hint    = 'Add memories_as_of session_start and selection all or top, or leave '
                      'placement at message.';
    end if;
    return v_options;
end;
$function$;

comment on function recall._context_options(jsonb) is
    'Options of compile_context, checked (RC003) and without nulls.';
