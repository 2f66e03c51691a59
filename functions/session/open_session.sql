-- Open a session, or return the user's existing session with that id unchanged.
-- Creates an unknown user. The window comes from the registered model, else from the settings; in
-- the second case metadata records the assumption. With a parent, the session starts from the
-- parent's summary.
-- Locks   the user and the parent, shared.
-- Raises  RC001 unknown parent, RC003 bad value.
create or replace function recall.open_session(
    p_user_id               uuid,
    p_model_id              text,
    p_system_prompt         text     default '',
    p_context_window_size   integer  default null,
    p_max_response_tokens   integer  default null,
    p_session_id            uuid     default null,
    p_agent_id              text     default null,
    p_parent_session_id     uuid     default null,
    p_expires_in            interval default null,
    p_system_prompt_tokens  integer  default null,
    p_temperature           real     default 0.7,
    p_top_p                 real     default 1.0,
    p_cost_limit_microcents bigint   default null,
    p_title                 text     default null,
    p_metadata              jsonb    default '{}'
)
returns uuid
language plpgsql
volatile
parallel unsafe
security definer
set search_path to pg_catalog, recall, pg_temp
set plan_cache_mode = force_generic_plan
as $function$
declare
    v_session_id uuid        := coalesce(p_session_id, recall.uuidv7());
    v_now        timestamptz := clock_timestamp();
    v_settings   recall.settings;
    v_window     integer     := p_context_window_size;
    v_response   integer;
    v_metadata   jsonb       := p_metadata;
    v_hash       bytea;
    v_tokens     integer;
begin
    perform recall._check_user(p_user_id);
    perform recall._check_json(p_metadata, 'p_metadata');
    perform recall._check_metadata(p_metadata, p_user_id);
    perform recall._check_text(p_model_id, 'p_model_id');
    perform recall._check_text(p_agent_id, 'p_agent_id');
    perform recall._check_text(p_title, 'p_title', 1000);
    if p_model_id is null or p_model_id = '' then
        raise exception using
            errcode = 'RC003',
            message = 'p_model_id is empty',
            hint    = 'Pass the model''s name, such as gpt-4o-mini.';
    end if;

    if p_session_id is not null and exists (
        select from recall.sessions as s
         where s.user_id = p_user_id and s.session_id = p_session_id
    ) then
        return p_session_id;
    end if;

    perform recall._lock_user_for_share(p_user_id);
    perform recall._lock_session_for_share(p_user_id, p_parent_session_id);
    v_settings := recall._settings(p_user_id);
    perform recall._check_text(p_system_prompt, 'p_system_prompt',
                               v_settings.message_max_characters);
    v_metadata := recall._guard_secrets(v_metadata, v_settings, 'p_metadata');

    if v_window is null then
        select m.context_window_size
          into v_window
          from recall.models as m
         where m.model_id = p_model_id;
        if not found then
            v_window   := v_settings.default_context_window;
            v_metadata := v_metadata || '{"context_window_assumed": true}';
        end if;
    end if;
    v_response := coalesce(p_max_response_tokens,
                           least(v_settings.default_max_response_tokens, v_window / 4));
    select p.o_hash, p.o_tokens
      into v_hash, v_tokens
      from recall._store_system_prompt(
               p_user_id,
               coalesce(recall._guard_text(p_system_prompt, v_settings, 'p_system_prompt'), ''),
               p_system_prompt_tokens) as p;
    perform recall._check_session_values(v_window, v_response, p_temperature, p_top_p,
                                         p_cost_limit_microcents, p_expires_in);

    insert into recall.sessions (
        user_id, session_id, agent_id, title, model_id, context_window_size,
        system_prompt_hash, system_prompt_tokens, temperature, top_p, max_response_tokens,
        cost_limit_microcents, parent_session_id, metadata, created_at, updated_at,
        expires_at, expires_in)
    values (
        p_user_id, v_session_id, recall._guard_text(p_agent_id, v_settings, 'p_agent_id'),
        recall._guard_text(p_title, v_settings, 'p_title'), p_model_id, v_window,
        v_hash, v_tokens, coalesce(p_temperature, 0.7), coalesce(p_top_p, 1.0),
        v_response, p_cost_limit_microcents, p_parent_session_id, v_metadata, v_now, v_now,
        recall._session_expiry(v_now, coalesce(p_expires_in, v_settings.session_ttl)),
        p_expires_in)
    on conflict (user_id, session_id) do nothing;

    if not found then
        -- A concurrent call has opened it, perhaps with another prompt.
        perform recall._release_prompts(array[v_hash]);
    elsif p_parent_session_id is not null then
        perform recall._inherit_summary(p_user_id, p_parent_session_id, v_session_id);
    end if;
    return v_session_id;
end;
$function$;

comment on function recall.open_session(uuid, text, text, integer, integer, uuid, text, uuid,
    interval, integer, real, real, bigint, text, jsonb) is
    'Open a session and return its id; an existing id of the same user is returned unchanged. '
    'Limits are in tokens and micro-cents. RC001: the parent does not exist. RC003: a bad value.';
