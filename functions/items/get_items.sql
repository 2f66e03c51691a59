-- Return items of a namespace by their keys.
-- Expired items are never returned. Reading does not renew a lifetime: touch_items does.
-- Raises  RC003.
create or replace function recall.get_items(
    p_user_id   uuid,
    p_namespace text[],
    p_keys      text[]
)
returns table (
    namespace  text[],
    key        text,
    value      jsonb,
    created_at timestamptz,
    updated_at timestamptz,
    expires_at timestamptz
)
language plpgsql
stable
parallel safe
security definer
set search_path to pg_catalog, recall, pg_temp
set plan_cache_mode = force_custom_plan
as $function$
declare
    v_now      timestamptz := clock_timestamp();
    v_settings recall.settings;
begin
    perform recall._check_user(p_user_id);
    perform recall._check_namespace(p_namespace, 'p_namespace');
    v_settings := recall._settings(p_user_id);
    if v_settings.secrets <> 'keep' then
        p_namespace := recall._masked_texts(p_namespace, v_settings);
        p_keys      := recall._masked_texts(p_keys, v_settings);
    end if;

    return query
    select i.namespace, i.key, i.value, i.created_at, i.updated_at, i.expires_at
      from recall.items as i
     where i.user_id   = p_user_id
       and i.namespace = p_namespace collate "C"
       and i.key       = any (p_keys collate "C")
       and (i.expires_at is null or i.expires_at > v_now)
     order by i.key;
end;
$function$;

comment on function recall.get_items(uuid, text[], text[]) is
    'Items of a namespace by their keys, without those that are unknown or expired. RC003: a '
    'malformed namespace.';
