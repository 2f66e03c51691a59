-- Record that memories were packed into a context, with their relevance at that time.
-- It only appends to a log, which recall.flush_access_log counts in batches.
-- Locks   the user, shared, unless the transaction is read committed; the user's row of user_locks,
--         shared.
-- Raises  RC003 lists of different length, or a relevance or efficiency that is none; 40001 when
--         the user was erased since the snapshot.
create or replace function recall.record_access(
    p_user_id    uuid,
    p_memory_ids uuid[],
    p_relevance  real[],
    p_efficiency real default null
)
returns integer
language plpgsql
volatile
parallel unsafe
security definer
set search_path to pg_catalog, recall, pg_temp
set plan_cache_mode = force_generic_plan
as $function$
declare
    v_now   timestamptz := clock_timestamp();
    v_count integer;
begin
    perform recall._check_user(p_user_id);
    if p_memory_ids is null or p_relevance is null
       or cardinality(p_memory_ids) <> cardinality(p_relevance) then
        raise exception using
            errcode = 'RC003',
            message = format('%s memories and %s numbers of relevance',
                             coalesce(cardinality(p_memory_ids)::text, 'no'),
                             coalesce(cardinality(p_relevance)::text, 'no')),
            hint    = 'Pass two lists of the same length.';
    end if;
    if array_position(p_relevance, null) is not null
       or array_position(p_relevance, 'NaN'::real) is not null then
        raise exception using
            errcode = 'RC003',
            message = 'a relevance is null or not a number',
            hint    = 'A relevance lies in 0 to 1; compile_context and search return it.';
    end if;

    perform recall._check_snapshot(p_user_id);
    if p_efficiency is not null then
        if not p_efficiency between 0 and 1 then
            raise exception using
                errcode = 'RC003',
                message = format('p_efficiency is %s', p_efficiency),
                hint    = 'Pass budget.efficiency of compile_context, 0 to 1, or nothing.';
        end if;
        insert into recall.context_efficiency (measured_at, efficiency)
        values (v_now, p_efficiency);
    end if;

    if not recall._lock_unlogged_for_share(p_user_id) then
        return 0;
    end if;
    insert into recall.memory_access_log (user_id, memory_id, relevance, accessed_at)
    select p_user_id, m.memory_id, least(greatest(a.relevance, 0), 1), v_now
      from unnest(p_memory_ids, p_relevance) as a (memory_id, relevance)
      join recall.memory_store as m on m.user_id = p_user_id and m.memory_id = a.memory_id
     where m.end_reason is null;

    get diagnostics v_count = row_count;
    return v_count;
end;
$function$;

comment on function recall.record_access(uuid, uuid[], real[], real) is
    'Record that memories were used, with their relevance (clamped to 0 to 1); counted in batches '
    'later. Returns how many were recorded; ids that are no active memory of the user are '
    'skipped. p_efficiency: budget.efficiency of compile_context, kept for a day for metrics.';
