-- List the tables with user data, in the order of erasure.
-- This is the only registry: add each new table with a user_id here. The tables that block writers
-- come first (user, sessions, jobs), the unlogged tables, which need a lock, last. Tables that are
-- not exported are derived from others, or mean nothing elsewhere.
create or replace function recall._user_tables()
returns table (
    place       integer,
    name        regclass,
    is_exported boolean,
    is_unlogged boolean
)
language plpgsql
immutable
parallel safe
set search_path to pg_catalog, recall, pg_temp
as $function$
begin
    return query
    select t.place, t.name, t.is_exported, t.is_unlogged
      from (values
               (1,  'recall.users'::regclass,                true,  false),
               (2,  'recall.user_keys'::regclass,            true,  false),
               (3,  'recall.sessions'::regclass,             true,  false),
               (4,  'recall.jobs'::regclass,                 true,  false),
               (5,  'recall.session_summaries'::regclass,    true,  false),
               (6,  'recall.append_receipts'::regclass,      false, false),
               (7,  'recall.conversation_history'::regclass, true,  false),
               (8,  'recall.message_search'::regclass,       false, false),
               (9,  'recall.message_words'::regclass,        false, false),
               (10, 'recall.message_annotations'::regclass,  true,  false),
               (11, 'recall.memory_store'::regclass,         true,  false),
               (12, 'recall.memory_embedding'::regclass,     true,  false),
               (13, 'recall.memory_embedding_ended'::regclass, true,  false),
               (14, 'recall.memory_events'::regclass,        true,  false),
               (15, 'recall.job_phases'::regclass,           true,  false),
               (16, 'recall.model_spending'::regclass,       true,  false),
               (17, 'recall.model_calls'::regclass,          true,  false),
               (18, 'recall.stream_events'::regclass,        true,  false),
               (19, 'recall.protocol_events'::regclass,      true,  false),
               (20, 'recall.items'::regclass,                true,  false),
               (21, 'recall.item_vectors'::regclass,         true,  false),
               (22, 'recall.imports'::regclass,              false, false),
               (23, 'recall.memory_access_log'::regclass,    true,  true),
               (24, 'recall.working_memory'::regclass,       true,  true),
               (25, 'recall.user_locks'::regclass,           false, true)
           ) as t (place, name, is_exported, is_unlogged)
     order by t.place;
end;
$function$;

comment on function recall._user_tables() is
    'The tables with user data, in the order in which an erasure deletes from them.';
