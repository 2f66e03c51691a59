-- Rules for every object of the schema. Each query returns the objects that break its rule, as text
-- in one column, and must return no row. `tests/contract/test_catalog.py` runs them one by one.

-- rule: every object has a comment
-- Leaves are copies of their parent; what backs a constraint is explained by it.
with objects as (
    select 'pg_namespace'::regclass as class, n.oid, 0 as part, 'schema recall' as object
      from pg_namespace as n
     where n.nspname = 'recall'
    union all
    select 'pg_class'::regclass, c.oid, 0, c.oid::regclass::text
      from pg_class as c
     where c.relnamespace = 'recall'::regnamespace
       and not c.relispartition
       and c.relkind in ('r', 'p', 'v', 'm', 'f')
    union all
    select 'pg_class'::regclass, c.oid, a.attnum, format('%s.%I', c.oid::regclass, a.attname)
      from pg_class as c
      join pg_attribute as a on a.attrelid = c.oid
     where c.relnamespace = 'recall'::regnamespace
       and c.relkind in ('r', 'p', 'v', 'm')
       and not c.relispartition
       and a.attnum > 0
       and not a.attisdropped
    union all
    select 'pg_class'::regclass, i.indexrelid, 0, format('index %s', i.indexrelid::regclass)
      from pg_index as i
      join pg_class as c on c.oid = i.indrelid
     where c.relnamespace = 'recall'::regnamespace
       and not c.relispartition
       and not exists (select from pg_constraint as k where k.conindid = i.indexrelid)
    union all
    select 'pg_type'::regclass, t.oid, 0, format('type %s', t.oid::regtype)
      from pg_type as t
     where t.typnamespace = 'recall'::regnamespace
       and (t.typtype in ('e', 'd')
            or t.typtype = 'c' and exists (
                select from pg_class as c where c.oid = t.typrelid and c.relkind = 'c'))
    union all
    select 'pg_proc'::regclass, p.oid, 0, format('function %s', p.oid::regprocedure)
      from pg_proc as p
     where p.pronamespace = 'recall'::regnamespace
    union all
    select 'pg_trigger'::regclass, t.oid, 0, format('trigger %I on %s', t.tgname, c.oid::regclass)
      from pg_trigger as t
      join pg_class as c on c.oid = t.tgrelid
     where c.relnamespace = 'recall'::regnamespace
       and not t.tgisinternal
       and t.tgparentid = 0
    union all
    select 'pg_policy'::regclass, p.oid, 0, format('policy %I on %s', p.polname, c.oid::regclass)
      from pg_policy as p
      join pg_class as c on c.oid = p.polrelid
     where c.relnamespace = 'recall'::regnamespace
)
select o.object
  from objects as o
 where not exists (
        select
          from pg_description as d
         where d.classoid = o.class and d.objoid = o.oid and d.objsubid = o.part
           and d.description ~ '\S')
 order by o.object;

-- rule: no function may be executed by PUBLIC
select p.oid::regprocedure::text
  from pg_proc as p
 cross join aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) as a
 where p.pronamespace = 'recall'::regnamespace
   and a.grantee = 0;

-- rule: a function that begins with an underscore is executed by the owner alone
select format('%s by %s', p.oid::regprocedure, a.grantee::regrole)
  from pg_proc as p
 cross join aclexplode(p.proacl) as a
 where p.pronamespace = 'recall'::regnamespace
   and p.proname like '\_%'
   and a.grantee not in (0, p.proowner);

-- rule: tables are read by PREFIX_reader and nobody else has any right on them
select format('%s: %s for %s', c.oid::regclass, a.privilege_type,
              case a.grantee when 0 then 'PUBLIC' else a.grantee::regrole::text end)
  from pg_class as c
 cross join aclexplode(c.relacl) as a
 where c.relnamespace = 'recall'::regnamespace
   and a.grantee <> c.relowner
   and not (a.grantee <> 0
            and a.grantee::regrole::text = (select s.role_prefix || '_reader'
                                              from recall.settings as s)
            and a.privilege_type = 'SELECT');

-- rule: PL/pgSQL and definer functions pin a search_path that begins in pg_catalog, ends in pg_temp
-- Exception: a procedure that commits, which pins it in each of its transactions.
select format('%s: %s', p.oid::regprocedure, coalesce(c.setting, 'none'))
  from pg_proc as p
  join pg_language as l on l.oid = p.prolang
  left join lateral (
        select s as setting from unnest(p.proconfig) as s where s like 'search\_path=%'
       ) as c on true
 where p.pronamespace = 'recall'::regnamespace
   and (l.lanname = 'plpgsql' or p.prosecdef)
   and not (p.prokind = 'p' and not p.prosecdef
            and p.prosrc like '%set_config(''search\_path'', ''pg\_catalog, pg\_temp'', true)%')
   and coalesce(c.setting, '') !~ '^search_path="?pg_catalog"?, .*"?pg_temp"?$';

-- rule: parameters are named p_…
select format('%s: %s', p.oid::regprocedure, coalesce(nullif(a.name, ''), a.place::text))
  from pg_proc as p
 cross join unnest(
        coalesce(p.proargmodes, array_fill('i'::"char", array[p.pronargs::integer])),
        coalesce(p.proargnames, array_fill(''::text, array[p.pronargs::integer]))
       ) with ordinality as a (mode, name, place)
 where p.pronamespace = 'recall'::regnamespace
   and a.mode in ('i', 'b', 'v')
   and a.name not like 'p\_%';

-- rule: no function is overloaded
select p.proname::text
  from pg_proc as p
 where p.pronamespace = 'recall'::regnamespace
 group by p.proname
having count(*) > 1;

-- rule: a public function takes the user first
-- Exceptions, as the contract lists them: configuration, maintenance, and pure functions.
select p.oid::regprocedure::text
  from pg_proc as p
 where p.pronamespace = 'recall'::regnamespace
   and p.proname not like '\_%'
   and p.prorettype <> 'trigger'::regtype
   and coalesce(p.proargnames[1], '') <> 'p_user_id'
   and p.proname not in (
        'uuidv7', 'user_id', 'ensure_user', 'message_hash', 'new_messages_since', 'version',
        'query_dates', 'configure', 'calibrate_embeddings', 'register_model', 'register_kind',
        'set_prompt', 'reset_prompt',
        'claim_jobs', 'waiting_jobs', 'retry_dead_jobs', 'list_total_spending',
        'promote_memories', 'expire_memories', 'decay_memories', 'expire_sessions',
        'expire_working', 'expire_items', 'flush_access_log', 'enqueue_compactions',
        'enqueue_merges',
        'enqueue_patterns', 'enqueue_missing_embeddings', 'release_expired_leases',
        'ensure_partitions', 'distribute', 'drop_expired_partitions', 'purge_expired',
        'sample_recall',
        'run_backfills',
        'run_maintenance', 'run_due_maintenance', 'maintain', 'list_maintenance',
        'schedule_maintenance', 'unschedule_maintenance', 'maintenance_commands',
        'configure_maintenance', 'set_scheduler', 'estimate_embedding_migration',
        'start_embedding_migration', 'pause_embedding_migration', 'resume_embedding_migration',
        'cancel_embedding_migration', 'switch_embedding_model', 'get_embedding_migration',
        'migrate_embeddings',
        'list_erasures', 'list_sealed_users', 'list_users', 'list_jobs', 'replay_erasures',
        'health', 'metrics', 'get_settings', 'list_models', 'list_prompts');

-- rule: constraints are named <table>_<columns>_<kind>
select format('%s on %s', k.conname, k.conrelid::regclass)
  from pg_constraint as k
  join pg_class as c on c.oid = k.conrelid
 where c.relnamespace = 'recall'::regnamespace
   and not c.relispartition
   and k.contype in ('p', 'u', 'f', 'c', 'x')
   and (not starts_with(k.conname, c.relname || '_')
        or k.conname !~ '_(pkey|key|fkey|check|excl)$'
        or k.conname in (c.relname || '_check', c.relname || '_fkey', c.relname || '_key'));

-- rule: indexes are named <table>_<purpose>_idx
select i.indexrelid::regclass::text
  from pg_index as i
  join pg_class as c on c.oid = i.indrelid
  join pg_class as x on x.oid = i.indexrelid
 where c.relnamespace = 'recall'::regnamespace
   and not c.relispartition
   and not exists (select from pg_constraint as k where k.conindid = i.indexrelid)
   and (not starts_with(x.relname, c.relname || '_') or x.relname !~ '_idx$');

-- rule: no index names a column that is counted or touched on the way
-- With one, no update of the row is HOT.
select i.indexrelid::regclass::text
  from pg_index as i
  join pg_class as c on c.oid = i.indrelid
 where c.relnamespace = 'recall'::regnamespace
   and not c.relispartition
   and pg_get_indexdef(i.indexrelid)
       ~ '\m(updated_at|last_accessed_at|access_count|active_tokens|relevance_accumulator)\M';

-- rule: an index on user data begins with user_id, unless it finds due work or uses of a prompt
select i.indexrelid::regclass::text
  from pg_index as i
  join pg_class as c on c.oid = i.indrelid
  join pg_class as x on x.oid = i.indexrelid
  join pg_attribute as u on u.attrelid = c.oid and u.attname = 'user_id'
 where c.relnamespace = 'recall'::regnamespace
   and not c.relispartition
   and i.indkey[0] <> u.attnum
   and x.relname !~ '_due_idx$'
   and x.relname <> 'sessions_system_prompt_hash_idx'
   and c.relname not in ('jobs', 'job_phases', 'memory_access_log', 'erasures');

-- rule: row-level security is on, on every table and every leaf
select c.oid::regclass::text
  from pg_class as c
 where c.relnamespace = 'recall'::regnamespace
   and c.relkind in ('r', 'p')
   and not c.relrowsecurity;

-- rule: a leaf has no policy of its own
select p.polrelid::regclass::text
  from pg_policy as p
  join pg_class as c on c.oid = p.polrelid
 where c.relnamespace = 'recall'::regnamespace
   and c.relispartition;

-- rule: everything belongs to one owner, who is no superuser
with owners as (
    select 'schema recall' as object, n.nspowner as owner
      from pg_namespace as n
     where n.nspname = 'recall'
    union all
    select c.oid::regclass::text, c.relowner
      from pg_class as c
     where c.relnamespace = 'recall'::regnamespace
    union all
    select p.oid::regprocedure::text, p.proowner
      from pg_proc as p
     where p.pronamespace = 'recall'::regnamespace
    union all
    select t.oid::regtype::text, t.typowner
      from pg_type as t
     where t.typnamespace = 'recall'::regnamespace
)
select format('%s belongs to %s', o.object, o.owner::regrole)
  from owners as o
  join pg_roles as r on r.oid = o.owner
 where r.rolsuper
    or o.owner <> (select n.nspowner from pg_namespace as n where n.nspname = 'recall');

-- rule: roles of the package cannot log in and hold no power over the server
select r.rolname::text
  from pg_roles as r
 where r.rolname like 'recall\_%'
   and (r.rolcanlogin or r.rolsuper or r.rolcreaterole or r.rolcreatedb or r.rolbypassrls
        or r.rolreplication);

-- rule: what is partitioned has leaves
select c.oid::regclass::text
  from pg_class as c
 where c.relnamespace = 'recall'::regnamespace
   and c.relkind = 'p'
   and not exists (select from pg_inherits as i where i.inhparent = c.oid);

-- rule: a function that disables a kind of plan disables JIT, too.
-- Up to PostgreSQL 17 a disabled plan that is used all the same costs 1e10 more. JIT then compiles
-- it at every call: 40 ms to read one row of settings.
select p.oid::regprocedure::text
  from pg_proc as p
 where p.pronamespace = 'recall'::regnamespace
   and exists (select from unnest(p.proconfig) as c where c like 'enable\_%=off')
   and not 'jit=off' = any (p.proconfig);

-- rule: a function that folds case or matches letters names a collation for it.
-- Else a Turkish database lowers I differently, and locale C has no letters beyond ASCII.
-- Exceptions: patterns only, bounds of ranges, and matches of our own texts.
select p.oid::regprocedure::text
  from pg_proc as p
 cross join lateral (
        select concat(p.prosrc, pg_get_function_sqlbody(p.oid))
       ) as f (body)
 where p.pronamespace = 'recall'::regnamespace
   and f.body ~* '\m(upper|lower|initcap)\(|~\*|\milike\M|\[:(alnum|alpha|upper|lower|punct):\]'
                 '|\\[wWmMyY]|\(\?i\)|''g?i'''
   and f.body !~* '\mcollate (pg_catalog\.)?("C"|pg_c_utf8)'
   and p.proname not in ('_secret_pattern', '_secret_patterns', '_secret_names', '_check_events',
                         '_left_turns', '_check_candidates', '_failure_text', '_health_server',
                         '_health_statements', '_date_expressions', '_date_share',
                         '_compare_turns');

-- rule: an SQL function with a text body and no search_path is internal
-- Without a path it can be inlined. Its callers pin the path, and no role may call it.
select p.oid::regprocedure::text
  from pg_proc as p
  join pg_language as l on l.oid = p.prolang
 where p.pronamespace = 'recall'::regnamespace
   and l.lanname = 'sql'
   and p.prosqlbody is null
   and (p.prosecdef or p.proname not like '\_%')
   and not exists (select from unnest(p.proconfig) as c where c like 'search\_path=%');

-- rule: no SQL-standard body names a table or its columns
-- Such a body makes the function depend on the table, and Citus cannot distribute that table.
select format('%s: %s', d.objid::regprocedure, d.refobjid::regclass)
  from pg_depend as d
  join pg_proc as p on p.oid = d.objid
  join pg_class as c on c.oid = d.refobjid
 where d.classid = 'pg_proc'::regclass
   and d.refclassid = 'pg_class'::regclass
   and p.pronamespace = 'recall'::regnamespace
   and c.relnamespace = 'recall'::regnamespace
 group by d.objid, d.refobjid;

-- rule: only _text_words turns text into words
-- PostgreSQL's parser is quadratic in some texts, which _parsed_text bounds.
select p.oid::regprocedure::text
  from pg_proc as p
 where p.pronamespace = 'recall'::regnamespace
   and concat(p.prosrc, pg_get_function_sqlbody(p.oid))
       ~* ('\m(array_to_tsvector|(json(b)?_)?to_tsvector|(plainto_|phraseto_|websearch_)?to_tsquery'
           '|ts_headline|ts_parse|ts_debug)\(')
   and p.proname <> '_text_words';

-- rule: a parallel safe function calls no parallel unsafe one
-- Names in texts and comments, such as hints, are no calls.
select format('%s calls %s', p.oid::regprocedure, u.oid::regprocedure)
  from pg_proc as p
 cross join lateral regexp_matches(
           regexp_replace(p.prosrc, '''[^'']*''|--[^\n]*', '', 'g'),
           'recall\.([a-z0-9_]+)\s*\(', 'g') as c (names)
  join pg_proc as u on u.pronamespace = p.pronamespace and u.proname = c.names[1]
 where p.pronamespace = 'recall'::regnamespace
   and p.proparallel = 's'
   and u.proparallel = 'u';
