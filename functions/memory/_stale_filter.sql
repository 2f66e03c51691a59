-- Return a filter with the thresholds for its key stale.
create or replace function recall._stale_filter(
    p_filter   recall.memory_filter,
    p_stale    boolean,
    p_as_of    timestamptz,
    p_settings recall.settings
)
returns recall.memory_filter
language plpgsql
stable
parallel safe
set search_path to pg_catalog, recall, pg_temp
as $function$
begin
    p_filter.stale            := p_stale;
    p_filter.stale_importance := p_settings.decay_importance;
    -- No memory is outside of these years, where a difference would overflow.
    p_filter.stale_before     := greatest(least(coalesce(p_as_of, now()), '9999-12-31T00:00:00Z'),
                                          '0001-01-01T00:00:00Z') - p_settings.decay_idle;
    return p_filter;
end;
$function$;

comment on function recall._stale_filter(recall.memory_filter, boolean, timestamptz,
    recall.settings) is
    'A filter by staleness: less important than decay_importance, untouched for decay_idle.';
