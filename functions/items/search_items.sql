-- Search the items below a namespace, by a filter, a vector, or both.
-- With a vector, the exact scan compares all vectors of the user's items below the namespace; an
-- item has the score of its best vector. Without one, the latest written items come first. Items
-- without a vector of this model and length are found without a vector only.
-- Raises  RC003, RC004 a malformed vector, RC006 a filter over an encrypted user.
create or replace function recall.search_items(
    p_user_id         uuid,
    p_namespace       text[]             default '{}',
    p_filter          jsonb              default '{}',
    p_query_embedding double precision[] default null,
    p_embedding_model text               default null,
    p_distance        text               default 'cosine',
    p_limit           integer            default 10,
    p_offset          integer            default 0
)
returns table (
    namespace  text[],
    key        text,
    value      jsonb,
    created_at timestamptz,
    updated_at timestamptz,
    expires_at timestamptz,
    score      double precision
)
language plpgsql
stable
parallel safe
security definer
set search_path to pg_catalog, recall, pg_temp
set plan_cache_mode = force_custom_plan
set max_parallel_workers_per_gather = 0
set jit = off
as $function$
declare
    v_now      timestamptz := clock_timestamp();
    v_until    text[];
    v_query    recall.item_vectors.embedding%type;
    v_settings recall.settings;
begin
    perform recall._check_user(p_user_id);
    perform recall._check_json(p_filter, 'p_filter');
    perform recall._check_namespace(p_namespace, 'p_namespace');
    perform recall._check_item_filter(p_filter);
    perform recall._check_limit(p_limit);
    perform recall._check_limit(p_offset, 'p_offset');
    perform recall._check_distance(p_distance);
    v_settings := recall._settings(p_user_id);
    if v_settings.secrets <> 'keep' then
        p_namespace := recall._masked_texts(p_namespace, v_settings);
    end if;
    if p_filter <> '{}' and recall._is_sealed_user(p_user_id) then
        raise exception using
            errcode = 'RC006',
            message = format('p_filter reads values, but user %s is encrypted', p_user_id),
            hint    = 'Search by namespace, and filter in the application.';
    end if;
    v_until := recall._namespace_end(p_namespace);

    v_query := recall._item_vector(p_query_embedding);
    if v_query is null then
        return query
        select i.namespace, i.key, i.value, i.created_at, i.updated_at, i.expires_at,
               null::double precision
          from recall.items as i
         where i.user_id = p_user_id
           and i.namespace >= p_namespace collate "C"
           and (v_until is null or i.namespace < v_until collate "C")
           and (i.expires_at is null or i.expires_at > v_now)
           and (p_filter = '{}' or recall._item_matches(i.value, p_filter))
         order by i.updated_at desc, i.namespace, i.key
         limit p_limit
        offset p_offset;
        return;
    end if;

    return query
    with scores as materialized (
        select v.namespace, v.key,
               max(recall._item_score(v.embedding, v_query, p_distance)) as score
          from recall.item_vectors as v
         where v.user_id = p_user_id
           and v.namespace >= p_namespace collate "C"
           and (v_until is null or v.namespace < v_until collate "C")
           and v.embedding_model = coalesce(p_embedding_model, v_settings.embedding_model)
         group by v.namespace, v.key
    )
    select i.namespace, i.key, i.value, i.created_at, i.updated_at, i.expires_at, s.score
      from scores as s
      join recall.items as i
        on i.user_id   = p_user_id
       and i.namespace = s.namespace
       and i.key       = s.key
     where s.score is not null
       and (i.expires_at is null or i.expires_at > v_now)
       and (p_filter = '{}' or recall._item_matches(i.value, p_filter))
     order by s.score desc, i.namespace, i.key
     limit p_limit
    offset p_offset;
end;
$function$;

comment on function recall.search_items(uuid, text[], jsonb, double precision[], text, text,
    integer, integer) is
    'Items whose namespace begins with p_namespace. p_filter: fields with a value, or with $eq, '
    '$ne, $gt, $gte, $lt, $lte. With a vector the nearest come first, and score is 1 - distance '
    '(cosine), -distance (l2) or the product (inner_product); else the latest written come first. '
    'RC003: malformed input. RC004: a malformed vector. RC006: a filter over values of an '
    'encrypted user.';
