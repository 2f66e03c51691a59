-- Change attributes of a session.
-- Locks   the session.
-- Raises  RC001, RC003 unknown key or bad value.
create or replace function recall.update_session(
    p_user_id    uuid,
    p_session_id uuid,
    p_changes    jsonb
)
returns void
language plpgsql
volatile
parallel unsafe
security definer
set search_path to pg_catalog, recall, pg_temp
set plan_cache_mode = force_generic_plan
as $function$
declare
    v_now      timestamptz := clock_timestamp();
    v_settings recall.settings;
    v_session  recall.sessions;
    v_new      recall.sessions;
    v_hash     bytea;
    v_tokens   integer;
begin
    perform recall._check_user(p_user_id);
    perform recall._check_json(p_changes, 'p_changes', 64, 67108864);
    perform recall._check_keys(
        p_changes,
        array['model_id', 'context_window_size', 'system_prompt', 'system_prompt_tokens',
              'agent_id', 'temperature', 'top_p', 'max_response_tokens', 'cost_limit_microcents',
              'title', 'metadata'], 'p_changes');
    perform recall._check_metadata(coalesce(p_changes -> 'metadata', '{}'), p_user_id);
    perform recall._check_text(p_changes ->> 'model_id', 'p_changes.model_id');
    perform recall._check_text(p_changes ->> 'agent_id', 'p_changes.agent_id');
    perform recall._check_text(p_changes ->> 'title', 'p_changes.title', 1000);
    v_settings := recall._settings(p_user_id);
    perform recall._check_text(p_changes ->> 'system_prompt', 'p_changes.system_prompt',
                               v_settings.message_max_characters);
    p_changes := recall._guard_secrets(p_changes, v_settings, 'p_changes');

    v_session := recall._lock_session(p_user_id, p_session_id);
    begin
        v_new := jsonb_populate_record(
            v_session, p_changes - '{system_prompt,metadata}'::text[]);
    exception when data_exception then
        raise exception using
            errcode = 'RC003',
            message = format('p_changes: %s (%s)',
                             recall._unfit_values('recall.sessions', p_changes),
                             left(sqlerrm, 200)),
            hint    = 'Numbers as numbers, texts as texts.';
    end;
    if p_changes ? 'model_id' and not p_changes ? 'context_window_size' then
        v_new.context_window_size := coalesce(
            (select m.context_window_size from recall.models as m
              where m.model_id = v_new.model_id),
            v_new.context_window_size);
    end if;
    if coalesce(v_new.model_id, '') = '' or v_new.context_window_size is null
       or v_new.temperature is null or v_new.top_p is null or v_new.max_response_tokens is null
       or jsonb_typeof(p_changes -> 'system_prompt') not in ('string', 'null') then
        raise exception using
            errcode = 'RC003',
            message = 'p_changes sets a required value to null, or to something that is no text: '
                      || (select string_agg(format('%s is %s', c.key, left(c.value::text, 80)),
                                            ', ' order by c.key)
                            from jsonb_each(p_changes) as c (key, value)
                           where c.key = 'system_prompt'
                                 and jsonb_typeof(c.value) not in ('string', 'null')
                              or c.key in ('model_id', 'context_window_size', 'temperature',
                                           'top_p', 'max_response_tokens')
                                 and c.value in ('null', '""')),
            hint    = 'Only agent_id, cost_limit_microcents, system_prompt and title may be null.';
    end if;
    perform recall._check_session_values(
        v_new.context_window_size, v_new.max_response_tokens, v_new.temperature, v_new.top_p,
        v_new.cost_limit_microcents, null);

    if p_changes ?| '{system_prompt,system_prompt_tokens}' then
        select r.o_hash, r.o_tokens
          into v_hash, v_tokens
          from recall._store_system_prompt(
               p_user_id,
               case
                   when p_changes ? 'system_prompt' then coalesce(p_changes ->> 'system_prompt', '')
                   else (select p.content from recall.system_prompts as p
                          where p.prompt_hash = v_session.system_prompt_hash
                          limit 1)
               end,
               case when p_changes ? 'system_prompt_tokens'
                    then v_new.system_prompt_tokens end) as r;
        if v_hash <> v_session.system_prompt_hash then
            perform recall._release_prompts(array[v_session.system_prompt_hash]);
        end if;
        v_new.system_prompt_hash   := v_hash;
        v_new.system_prompt_tokens := v_tokens;
    end if;

    update recall.sessions as s
       set model_id              = v_new.model_id,
           context_window_size   = v_new.context_window_size,
           system_prompt_hash    = v_new.system_prompt_hash,
           system_prompt_tokens  = v_new.system_prompt_tokens,
           agent_id              = v_new.agent_id,
           temperature           = v_new.temperature,
           top_p                 = v_new.top_p,
           max_response_tokens   = v_new.max_response_tokens,
           cost_limit_microcents = v_new.cost_limit_microcents,
           title                 = v_new.title,
           metadata              = recall._merge_metadata(
                                       s.metadata, coalesce(p_changes -> 'metadata', '{}')),
           updated_at            = v_now
     where s.user_id    = p_user_id
       and s.session_id = p_session_id;
end;
$function$;

comment on function recall.update_session(uuid, uuid, jsonb) is
    'Change model, window, prompt, sampling, limits, title or metadata (merged; null removes a '
    'key) of a session. RC001: the session does not exist. RC003: an unknown key, or a bad value.';
