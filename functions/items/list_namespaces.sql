-- List the namespaces that hold items, in order.
-- The label * in a prefix or suffix stands for any label. p_max_depth cuts longer namespaces, and
-- each result stands once.
-- Raises  RC003.
create or replace function recall.list_namespaces(
    p_user_id   uuid,
    p_prefix    text[]  default '{}',
    p_suffix    text[]  default '{}',
    p_max_depth integer default null,
    p_limit     integer default 100,
    p_offset    integer default 0
)
returns table (
    namespace text[]
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
    perform recall._check_namespace(p_prefix, 'p_prefix');
    perform recall._check_namespace(p_suffix, 'p_suffix');
    perform recall._check_limit(p_limit);
    perform recall._check_limit(p_offset, 'p_offset');
    if p_max_depth < 1 then
        raise exception using
            errcode = 'RC003',
            message = format('p_max_depth is %s', p_max_depth),
            hint    = 'Pass one or more labels, or NULL for all.';
    end if;
    v_settings := recall._settings(p_user_id);
    if v_settings.secrets <> 'keep' then
        p_prefix := recall._masked_texts(p_prefix, v_settings);
        p_suffix := recall._masked_texts(p_suffix, v_settings);
    end if;

    return query
    select distinct i.namespace[:coalesce(p_max_depth, cardinality(i.namespace))] as labels
      from recall.items as i
     where i.user_id = p_user_id
       and (i.expires_at is null or i.expires_at > v_now)
       and recall._namespace_matches(i.namespace, p_prefix, p_suffix)
     order by labels
     limit p_limit
    offset p_offset;
end;
$function$;

comment on function recall.list_namespaces(uuid, text[], text[], integer, integer, integer) is
    'Namespaces that hold items, in order, cut to p_max_depth labels. The label * in p_prefix or '
    'p_suffix stands for any label. RC003: malformed input.';
