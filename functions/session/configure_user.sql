-- Override settings for one user; null removes an override.
-- To validate the values, the function writes them to the settings table, whose CHECK constraints
-- apply, and rolls back. A new language reindexes the words of all texts of the user, so that
-- queries find older texts.
-- Locks   the settings row, then the user.
-- Raises  RC003 unknown key or value out of range, RC007 a size fixed at installation.
create or replace function recall.configure_user(
    p_user_id uuid,
    p_changes jsonb
)
returns void
language plpgsql
volatile
parallel unsafe
security definer
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_settings   recall.settings;
    v_values     jsonb;
    v_language   regconfig;
    v_dimensions jsonb := jsonb '{}';
begin
    perform recall._check_user(p_user_id);
    perform recall._check_json(p_changes, 'p_changes');
    -- The dimensions of a user's own model stay when those of the installation's change.
    if jsonb_typeof(p_changes) = 'object' and p_changes ? 'embedding_model' then
        v_dimensions := jsonb_build_object('embedding_dimensions', case
            when p_changes -> 'embedding_model' <> 'null'
            then coalesce(p_changes -> 'embedding_dimensions', (
                select to_jsonb(s.embedding_dimensions) from recall.settings as s)) end);
        p_changes := p_changes - 'embedding_dimensions';
    end if;
    perform recall._check_settings_keys(p_changes, 'p_changes');
    if p_changes ? 'daily_cost_limit_microcents' then
        raise exception using
            errcode = 'RC003',
            message = 'daily_cost_limit_microcents applies to all users together',
            hint    = 'For one user, set daily_user_cost_limit_microcents.';
    end if;
    if p_changes ? 'require_identity' then
        raise exception using
            errcode = 'RC003',
            message = 'require_identity applies to all users together',
            hint    = 'recall.configure sets it.';
    end if;
    v_values := jsonb_strip_nulls(p_changes || v_dimensions);

    begin
        select s.* into v_settings from recall.settings as s for update;
        perform recall._write_settings(v_settings, v_values);
        raise exception using errcode = 'RC999', message = 'only a trial';
    exception when sqlstate 'RC999' then null;
    end;

    perform recall._ensure_user(p_user_id);
    perform recall._lock_user_for_update(p_user_id);
    v_language := (recall._settings(p_user_id)).language::regconfig;
    update recall.users as u
       set overrides     = jsonb_strip_nulls(u.overrides || p_changes || v_dimensions),
           embedding_due = u.embedding_due or p_changes ? 'embedding_model'
     where u.user_id = p_user_id;
    if p_changes ? 'language'
       and (recall._settings(p_user_id)).language::regconfig <> v_language then
        perform recall._write_words(p_user_id, (recall._settings(p_user_id)).language::regconfig);
    end if;
    if p_changes ? 'embedding_model' then
        perform recall._follow_own_model(p_user_id);
        update recall.memory_store as m
           set embedding_due = true
         where m.user_id = p_user_id
           and m.memory_id = (
                   select f.memory_id
                     from recall.memory_store as f
                    where f.user_id = p_user_id
                      and f.ended_at is null
                    order by f.memory_id
                    limit 1);
    end if;
end;
$function$;

comment on function recall.configure_user(uuid, jsonb) is
    'Override settings for one user: an object of setting names; null removes an override. RC003: '
    'an unknown key, or a value out of range. RC007: a size that is fixed at installation.';
