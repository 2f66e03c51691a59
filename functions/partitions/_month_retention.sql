-- Return how long the months of a table are kept; NULL: unlimited.
create or replace function recall._month_retention(
    p_parent   regclass,
    p_settings recall.settings
)
returns interval
language sql
stable
parallel safe
as $function$
    select case
        when pg_partition_root(p_parent) = 'recall.conversation_history'::regclass
            then (p_settings).history_retention
        when pg_partition_root(p_parent) = 'recall.job_phases'::regclass
            then (p_settings).phase_retention
        when pg_partition_root(p_parent) = 'recall.model_calls'::regclass
             or pg_partition_root(p_parent) = 'recall.stream_events'::regclass
             or pg_partition_root(p_parent) = 'recall.protocol_events'::regclass
            then (p_settings).ledger_retention
    end;
$function$;

comment on function recall._month_retention(regclass, recall.settings) is
    'Retention of a table with monthly partitions; NULL: unlimited.';
