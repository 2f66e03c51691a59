-- Reject imported rows from the future, or with a provenance above their source.
-- A row from the future would create a partition that is never dropped: expiry waits for its month,
-- and forget_user deletes rows only. As for other writers (_candidate_origin), statements of a tool
-- keep the provenance of a tool.
-- Raises  RC003.
create or replace function recall._check_import_rows(
    p_table    regclass,
    p_rows     jsonb,
    p_settings recall.settings
)
returns void
language plpgsql
stable
parallel safe
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_limit   constant timestamptz := clock_timestamp() + p_settings.future_skew;
    -- Times that are planned, or that callers may give.
    v_free    constant text[]      := array['expires_at', 'valid_from', 'valid_to', 'review_at',
                                            'check_at', 'search_purge_at', 'run_at', 'lease_until',
                                            'observed_at', 'started_at', 'completed_at',
                                            'occurred_at'];
    v_wrong   text;
begin
    select format('%s of a row of %s is %s, in the future', a.attname, p_table,
                  left(r.item ->> a.attname, 80))
      into v_wrong
      from pg_catalog.pg_attribute as a
     cross join jsonb_array_elements(p_rows) as r (item)
     where a.attrelid = p_table
       and a.attnum > 0
       and a.atttypid = 'timestamptz'::regtype
       and a.attname <> all (v_free)
       and (r.item ->> a.attname)::timestamptz > v_limit
     limit 1;
    if not found and p_table = 'recall.memory_store'::regclass then
        select format('memory %s of source %s claims provenance %s', r.item ->> 'memory_id',
                      r.item ->> 'source', r.item ->> 'provenance')
          into v_wrong
          from jsonb_array_elements(p_rows) as r (item)
         where (r.item ->> 'provenance')::recall.provenance < case r.item ->> 'source'
                   when 'tool' then 'tool_output'::recall.provenance
                   when 'inference' then 'system_inferred'
               end
         limit 1;
    end if;
    if v_wrong is not null then
        raise exception using
            errcode = 'RC003',
            message = format('p_document: %s', v_wrong),
            hint    = 'Pass what recall.export_user returned, as it was.';
    end if;
end;
$function$;

comment on function recall._check_import_rows(regclass, jsonb, recall.settings) is
    'Reject rows of a document from the future, or with a provenance above their source (RC003).';
