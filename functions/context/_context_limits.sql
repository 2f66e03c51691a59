-- Add the limits of selection, format and layout from the settings to the options.
-- Options take precedence. The prompt cache discounts the history of a cache-stable context, but
-- not the memories behind it, which are paid in full at every turn. Without a limit they were 10 %
-- of all tokens.
create or replace function recall._context_limits(
    p_options  jsonb,
    p_settings recall.settings
)
returns jsonb
language sql
stable
parallel safe
as $function$
    select case p_options ->> 'selection'
               when 'top' then jsonb_build_object('max_memories', 20)
               when 'split' then jsonb_build_object('max_facts', 4,
                                                    'max_episodes', 4)
               else '{}'
           end
           || case p_options ->> 'format'
                  when 'bullets'
                      then jsonb_build_object('max_memory_chars', 900)
                  else '{}'
              end
           || case
                  when p_options ->> 'layout' = 'cache_stable'
                       and not recall._has_fixed_memories(p_options)
                      then jsonb_build_object('memory_budget',
                                              p_settings.cache_stable_memory_tokens)
                  else '{}'
              end
           || p_options;
$function$;

comment on function recall._context_limits(jsonb, recall.settings) is
    'Options of a context with the limits of its selection, format and layout from the settings.';
