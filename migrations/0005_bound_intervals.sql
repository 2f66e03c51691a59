-- Intervals of settings end at 1000 years, or are infinite: a sum with a time overflows beyond.
-- The backfill does the same to the overrides of users.
do $bound$
declare
    v_name text;
begin
    foreach v_name in array array[
        'receipt_ttl', 'future_skew', 'extract_after_idle', 'session_memory_grace',
        'episode_lifetime', 'verbatim_lifetime', 'working_ttl', 'run_details_retention',
        'demotion_age', 'decay_idle', 'decay_lifetime', 'phase_retention', 'ledger_retention',
        'ended_vector_retention', 'message_search_retention']
    loop
        execute format('update recall.settings set %1$I = ''1000 years'' '
                       'where %1$I > ''1000 years'' and %1$I < ''infinity''', v_name);
    end loop;
end;
$bound$;
insert into recall.backfills (backfill, migration, table_name)
values ('overrides', '0005_bound_intervals', 'users');
