-- Return the columns that an export leaves out.
-- These are cursors into derived tables, flags of sweeps, leases and results of workers.
create or replace function recall._left_out(
    p_table regclass
)
returns text[]
language sql
immutable
parallel safe
as $function$
    select case p_table
        when 'recall.users'::regclass
            then array['active_memory_count', 'memory_revision', 'merge_due', 'pattern_due',
                       'embedding_due', 'event_count', 'event_hash', 'item_count', 'item_bytes']
        when 'recall.sessions'::regclass
            then array['indexed_through_turn', 'search_purge_at', 'compaction_due']
        when 'recall.memory_store'::regclass
            then array['promotion_due', 'check_at', 'embedding_due']
        when 'recall.jobs'::regclass
            then array['state', 'attempts', 'lease_until', 'lease_token', 'worker', 'lease',
                       'work', 'vectors']
        else '{}'::text[]
    end;
$function$;

comment on function recall._left_out(regclass) is
    'The columns of a table that have no meaning in another database.';
