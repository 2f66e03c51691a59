-- Store and delete items, in one transaction.
-- A repeated namespace and key counts once, with its last value. A write replaces value, lifetime
-- and vectors, and keeps created_at. The user's row is locked for the counters, so that items of
-- one user are written in turns.
-- Locks   the user.
-- Raises  RC003, RC004 a malformed vector, RC010 above the limits of the settings.
create or replace function recall.put_items(
    p_user_id         uuid,
    p_items           jsonb,
    p_embedding_model text default null
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
    v_since    pg_snapshot := pg_current_snapshot();
    v_settings recall.settings;
    v_rows     recall.items[];
    v_vectors  recall.item_vectors[];
    v_old      record;
    v_new      record;
begin
    perform recall._check_user(p_user_id);
    perform recall._check_json(p_items, 'p_items', 68, 2147483647);
    perform recall._check_items(p_items);
    perform recall._check_model_name(nullif(p_embedding_model, ''), 'p_embedding_model');
    v_settings := recall._settings(p_user_id);
    p_items    := recall._guard_secrets(p_items, v_settings, 'p_items');
    p_embedding_model := recall._guard_text(p_embedding_model, v_settings, 'p_embedding_model');

    v_vectors := array(
        select v
          from recall._read_item_vectors(
                   p_user_id, p_items,
                   coalesce(p_embedding_model, v_settings.embedding_model)) as v);
    while (recall._lock_user_for_update(p_user_id)).user_id is null loop
        perform recall._ensure_user(p_user_id, p_since => v_since);
    end loop;
    v_rows := array(
        select i from recall._read_items(p_user_id, p_items, v_vectors, clock_timestamp()) as i);

    select count(*) as items, coalesce(sum(i.byte_count), 0) as bytes
      into v_old
      from recall.items as i
     where i.user_id = p_user_id
       and (i.namespace, i.key) in (select r.namespace, r.key from unnest(v_rows) as r);
    delete from recall.item_vectors as v
     where v.user_id = p_user_id
       and (v.namespace, v.key) in (select r.namespace, r.key from unnest(v_rows) as r);
    delete from recall.items as i
     where i.user_id = p_user_id
       and (i.namespace, i.key) in (
               select r.namespace, r.key from unnest(v_rows) as r where r.value is null);
    insert into recall.items as i
    select r.* from unnest(v_rows) as r where r.value is not null
    on conflict (user_id, namespace, key) do update
       set value      = excluded.value,
           byte_count = excluded.byte_count,
           ttl        = excluded.ttl,
           updated_at = greatest(
               excluded.updated_at,
               (i.updated_at at time zone 'UTC' + interval '1 microsecond') at time zone 'UTC'),
           expires_at = excluded.expires_at;
    insert into recall.item_vectors
    select v.*
      from unnest(v_vectors) as v
     where (v.namespace, v.key) in (
               select r.namespace, r.key from unnest(v_rows) as r where r.value is not null);

    select count(*) as items, coalesce(sum(r.byte_count), 0) as bytes
      into v_new
      from unnest(v_rows) as r
     where r.value is not null;
    perform recall._count_items(p_user_id, v_new.items - v_old.items,
                                v_new.bytes - v_old.bytes, v_settings);
    return cardinality(v_rows);
end;
$function$;

comment on function recall.put_items(uuid, jsonb, text) is
    'Store items: a list of objects with namespace, key, value, and if wanted ttl (minutes) and '
    'vectors (path, embedding). A null value deletes the item. Returns how many different items '
    'the list names. p_embedding_model names the model of the vectors (NULL: '
    'settings.embedding_model). RC003: a malformed item, or a secret. RC004: a malformed vector. '
    'RC010: more items or bytes than settings.items_per_user and item_bytes_per_user allow.';
