-- Parse and check a filter of get_memories or search.
-- It runs once a call, so that recall._memory_matches compares typed values row by row. A null key
-- counts as missing.
-- Raises  RC003 unknown key, or a value of another type.
create or replace function recall._read_filter(
    p_filter     jsonb,
    p_for_search boolean default false
)
returns recall.memory_filter
language plpgsql
stable
parallel safe
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_keys   constant text[] :=
        '{kinds,kinds_none,tiers,scopes,slots,tags_any,tags_all,provenance,source,'
        'source_session_id,agent_id,session_id,metadata,observed_after,observed_before,valid_at,'
        'include_ended}'::text[];
    v_filter recall.memory_filter;
begin
    v_filter.is_empty      := true;
    v_filter.include_ended := false;
    if p_for_search and jsonb_typeof(p_filter) = 'object' then
        v_filter.stale := recall._filter_value(p_filter, 'stale', 'boolean')::boolean;
        p_filter       := p_filter - 'stale';
    end if;
    if p_filter = '{}' then
        return v_filter;
    end if;
    perform recall._check_keys(
        p_filter,
        v_keys || case when p_for_search then '{stale,min_similarity,min_match,asked_at,dates}'
                       else '{}' end::text[],
        'filter');

    v_filter.kinds    := recall._filter_texts(p_filter, 'kinds');
    v_filter.kinds_none := recall._filter_texts(p_filter, 'kinds_none');
    v_filter.slots    := recall._filter_texts(p_filter, 'slots');
    v_filter.tags_any := recall._filter_texts(p_filter, 'tags_any');
    v_filter.tags_all := recall._filter_texts(p_filter, 'tags_all');
    v_filter.source   := recall._filter_texts(
        p_filter, 'source', '{conversation,manual,inference,tool,consolidation,import}');
    v_filter.tiers := recall._filter_texts(
        p_filter, 'tiers', enum_range(null::recall.memory_tier)::text[]);
    v_filter.scopes := recall._filter_texts(
        p_filter, 'scopes', enum_range(null::recall.memory_scope)::text[]);
    v_filter.provenance := recall._filter_texts(
        p_filter, 'provenance', enum_range(null::recall.provenance)::text[]);

    v_filter.source_session_id := recall._filter_value(p_filter, 'source_session_id', 'uuid')::uuid;
    v_filter.session_id        := recall._filter_value(p_filter, 'session_id', 'uuid')::uuid;
    v_filter.agent_id          := recall._filter_value(p_filter, 'agent_id', 'text');
    v_filter.metadata          := recall._filter_value(p_filter, 'metadata', 'jsonb')::jsonb;
    v_filter.min_similarity    := recall._filter_value(p_filter, 'min_similarity', 'real')::real;
    v_filter.min_match := recall._filter_value(p_filter, 'min_match', 'real')::real;
    if v_filter.min_similarity not between -1 and 1 then
        raise exception using
            errcode = 'RC003',
            message = format('filter.min_similarity is %s', v_filter.min_similarity),
            hint    = 'A cosine from -1 to 1.';
    end if;
    if v_filter.min_match not between 0 and 1 then
        raise exception using
            errcode = 'RC003',
            message = format('filter.min_match is %s', v_filter.min_match),
            hint    = 'From 0 (all) to 1.';
    end if;
    v_filter.valid_at := recall._filter_value(
        p_filter, 'valid_at', 'timestamptz')::timestamptz;
    v_filter.observed_after := recall._filter_value(
        p_filter, 'observed_after', 'timestamptz')::timestamptz;
    v_filter.observed_before := recall._filter_value(
        p_filter, 'observed_before', 'timestamptz')::timestamptz;
    perform recall._filter_value(p_filter, 'asked_at', 'timestamptz');
    perform recall._filter_value(p_filter, 'dates', 'boolean');
    v_filter.include_ended     := coalesce(
        recall._filter_value(p_filter, 'include_ended', 'boolean')::boolean, false);

    v_filter.is_empty := jsonb_strip_nulls(p_filter)
                         - '{include_ended,min_similarity,min_match,asked_at,dates}'::text[] = '{}';
    return v_filter;
end;
$function$;

comment on function recall._read_filter(jsonb, boolean) is
    'A filter over memories, parsed and checked (RC003); min_similarity, min_match, '
    'asked_at, dates and stale only for search.';
