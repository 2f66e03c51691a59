-- Renew the lifetime of items of a namespace, and return how many were renewed.
-- Items without a ttl, and expired items, stay as they are.
-- Locks   the user.
-- Raises  RC003.
create or replace function recall.touch_items(
    p_user_id   uuid,
    p_namespace text[],
    p_keys      text[]
)
returns integer
language plpgsql
volatile
parallel unsafe
security definer
set search_path to pg_catalog, recall, pg_temp
set plan_cache_mode = force_custom_plan
as $function$
declare
    v_now      timestamptz;
    v_settings recall.settings;
    v_count    integer;
begin
    perform recall._check_user(p_user_id);
    perform recall._check_namespace(p_namespace, 'p_namespace');
    v_settings := recall._settings(p_user_id);
    if v_settings.secrets <> 'keep' then
        p_namespace := recall._masked_texts(p_namespace, v_settings);
        p_keys      := recall._masked_texts(p_keys, v_settings);
    end if;
    -- put_items locks the user before it locks items.
    perform recall._lock_user_for_update(p_user_id);
    v_now := clock_timestamp();

    update recall.items as i
       set expires_at = (v_now at time zone 'UTC' + i.ttl) at time zone 'UTC'
     where i.user_id    = p_user_id
       and i.namespace  = p_namespace collate "C"
       and i.key        = any (p_keys collate "C")
       and i.expires_at > v_now;
    get diagnostics v_count = row_count;
    return v_count;
end;
$function$;

comment on function recall.touch_items(uuid, text[], text[]) is
    'Renew the lifetime of items of a namespace by their keys. Returns how many were renewed: '
    'items without a ttl or expired ones are not. RC003: a malformed namespace.';
