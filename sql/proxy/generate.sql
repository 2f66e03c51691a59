-- Write the statements that make the functions of a proxy; run it on a shard.
-- The proxy gets the same functions in the schema recall, with their types, defaults, comments and
-- rights. Each calls a function of PL/Proxy in recall_proxy, which calls the shard's function. That
-- of a user finds the shard itself, so that no caller can choose another one:
--     psql -qAt -d SHARD -f sql/proxy/generate.sql | psql -1 -v ON_ERROR_STOP=1 -d PROXY
set search_path to pg_catalog, pg_temp;
with recursive
-- How a function without a user is sent. {call} is the call on the shard s.shard_no.
--   copy     needs no shard, and is copied
--   any      one shard that answers
--   every    all shards; failures are reported together
--   sum      as every, and the numbers are added
--   query    a query over the shards
--   shard    refused: it concerns one server
modes (name, mode, query) as (
    values
    ('user_id',            'copy',  null),
    ('uuidv7',             'copy',  null),
    ('version',            'copy',  null),
    ('message_hash',       'any',   null),
    ('new_messages_since', 'any',   null),
    ('query_dates',        'any',   null),
    ('get_settings',       'any',   null),
    ('list_models',        'any',   null),
    ('list_prompts',       'any',   null),
    ('configure',             'every', null),
    ('configure_maintenance', 'every', null),
    ('register_kind',         'every', null),
    ('register_model',        'every', null),
    ('set_prompt',            'every', null),
    ('reset_prompt',          'every', null),
    ('start_embedding_migration',  'every', null),
    ('pause_embedding_migration',  'every', null),
    ('resume_embedding_migration', 'every', null),
    ('cancel_embedding_migration', 'every', null),
    ('switch_embedding_model', 'sum', null),
    ('retry_dead_jobs',        'sum', null),
    ('replay_erasures',        'sum', null),
    ('health', 'query',
     'select r.name, r.status, concat(s.name, '': '', r.detail), r.hint
        from recall_proxy.reachable_shards() as s cross join lateral {call} as r
      union all
      select ''shard'', ''error'', format(''shard %s cannot be reached'', s.name), s.problem
        from recall_proxy.check_shards() as s where s.problem is not null'),
    ('metrics', 'query',
     'select r.name, r.value, r.labels || jsonb_build_object(''shard'', s.name)
        from recall_proxy.reachable_shards() as s cross join lateral {call} as r
      union all
      select ''shard_up'', case when s.problem is null then 1 else 0 end,
             jsonb_build_object(''shard'', s.name)
        from recall_proxy.check_shards() as s'),
    ('get_embedding_migration', 'query',
     'select r.* from recall_proxy.reachable_shards() as s cross join lateral {call} as r
       order by r.switched_at is not null, r.share'),
    ('estimate_embedding_migration', 'query',
     'select sum(r.memories)::bigint, sum(r.ended_memories)::bigint, sum(r.messages)::bigint,
             sum(r.summaries)::bigint, sum(r.texts)::bigint, sum(r.tokens)::bigint,
             sum(r.cost_microcents)::bigint
        from recall_proxy.list_shards() as s cross join lateral {call} as r'),
    ('calibrate_embeddings', 'query',
     'select r.* from recall_proxy.list_shards() as s cross join lateral {call} as r'),
    ('waiting_jobs', 'query',
     'select r.kind, r.mode, r.needs_model, sum(r.due)::bigint, sum(r.deferred)::bigint,
             min(r.deferred_until)
        from recall_proxy.reachable_shards() as s cross join lateral {call} as r
       group by 1, 2, 3 order by 1, 2, 3'),
    ('list_total_spending', 'query',
     'select r.day, sum(r.cost_microcents)::bigint
        from recall_proxy.list_shards() as s cross join lateral {call} as r
       group by r.day order by r.day desc'),
    ('list_maintenance', 'query',
     'select r.* from recall_proxy.reachable_shards() as s cross join lateral {call} as r
       order by r.task, r.last_run_at nulls first'),
    ('run_due_maintenance', 'query',
     'select r.* from recall_proxy.reachable_shards() as s cross join lateral {call} as r'),
    ('list_jobs', 'query',
     'select r.* from recall_proxy.reachable_shards() as s cross join lateral {call} as r
       where recall_proxy.shard_of(r.user_id) = s.shard_no
       order by r.job_id desc limit p_limit'),
    -- A user whose move is not finished may have rows on two shards; one of them counts.
    ('list_users', 'query',
     'select r.* from recall_proxy.list_shards() as s cross join lateral {call} as r
       where recall_proxy.shard_of(r.user_id) = s.shard_no
       order by r.user_id limit p_limit'),
    ('list_sealed_users', 'query',
     'select r.* from recall_proxy.list_shards() as s cross join lateral {call} as r
       where recall_proxy.shard_of(r.user_id) = s.shard_no
       order by r.user_id limit p_limit'),
    -- A replay stores the erasures of all shards on each.
    ('list_erasures', 'query',
     'select distinct on (r.erasure_id) r.*
        from recall_proxy.list_shards() as s cross join lateral {call} as r
       order by r.erasure_id limit p_limit'),
    ('run_maintenance',        'shard', null),
    ('maintain',               'shard', null),
    ('maintenance_commands',   'shard', null),
    ('schedule_maintenance',   'shard', null),
    ('unschedule_maintenance', 'shard', null),
    ('set_scheduler',          'shard', null)
),

functions as (
    select p.oid, p.proname as name, p.prokind,
           pg_get_function_arguments(p.oid) as arguments,
           pg_get_function_identity_arguments(p.oid) as identity,
           case when p.prokind = 'f' then pg_get_function_result(p.oid) end as result,
           oidvectortypes(p.proargtypes) as argument_types,
           p.proretset as is_set,
           p.prorettype = 'void'::regtype as is_void,
           coalesce(p.proargnames[:p.pronargs], '{}') as names,
           array_position(p.proargnames, 'p_user_id') as user_place,
           case when array_position(p.proargnames, 'p_user_id') is not null then 'user'
                when p.proname in ('ensure_user', 'claim_jobs') then p.proname
                when pg_get_function_result(p.oid) = 'TABLE(done integer, more boolean)'
                then 'sweep'
                else coalesce(m.mode, 'shard') end as mode,
           m.query,
           array(select pg_get_userbyid(a.grantee)
                   from aclexplode(p.proacl) as a
                  where a.grantee not in (0, p.proowner)) as roles
      from pg_catalog.pg_proc as p
      left join modes as m on m.name = p.proname
     where p.pronamespace = 'recall'::regnamespace
       and p.proname !~ '^_'
),

-- the types of arguments and results, and those that they are made of
used (type_id, depth) as (
    select t.id, 0
      from pg_catalog.pg_proc as p
      join functions as f on f.oid = p.oid
     cross join lateral unnest(p.proargtypes::oid[] || coalesce(p.proallargtypes, '{}')
                               || p.prorettype) as t (id)
    union
    select case when t.typelem <> 0 and t.typcategory = 'A' then t.typelem else a.atttypid end,
           u.depth + 1
      from used as u
      join pg_catalog.pg_type as t on t.oid = u.type_id
      left join pg_catalog.pg_attribute as a
        on a.attrelid = t.typrelid and t.typrelid <> 0 and a.attnum > 0 and not a.attisdropped
     where (t.typelem <> 0 and t.typcategory = 'A' or t.typtype = 'c')
       and u.depth < 10
),

types as (
    select t.oid, t.typname, t.typtype, t.typrelid, max(u.depth) as depth
      from used as u
      join pg_catalog.pg_type as t on t.oid = u.type_id
     where t.typnamespace = 'recall'::regnamespace
       and t.typtype in ('e', 'c')
     group by t.oid
),

calls as (
    select f.*,
           concat_ws(', ', f.shard_type, 'jsonb', nullif(f.argument_types, '')) as types,
           format('recall_proxy.%I(%s)', f.name, concat_ws(', ',
               case when f.mode in ('any', 'every', 'sum', 'claim_jobs') then 'v_shard'
                    when f.shard_type is not null then 's.shard_no' end,
               case f.mode when 'claim_jobs' then 'v_settings' else 'recall_proxy.settings()' end,
               nullif(array_to_string(array(
                   select case when f.mode = 'claim_jobs' and n.name = 'p_limit'
                               then 'p_limit - v_count'
                               when f.name = 'replay_erasures'
                               then 'recall_proxy.merge_erasures(p_erasures)'
                               else n.name end
                     from unnest(f.names) with ordinality as n (name, place)
                    order by n.place), ', '), ''))) as call,
           case when f.is_void or not f.is_set then 'r' else 'r.*' end as columns,
           format('recall.%I(%s)', f.name, array_to_string(array(
               select case when n.place = f.user_place then 'e.id' else '$' || n.place + f.first end
                 from unnest(f.names) with ordinality as n (name, place)
                order by n.place), ', ')) as remote,
           case f.mode when 'user' then '$' || f.user_place + f.first
                       when 'ensure_user' then 'recall_shard.user_of($2)'
                       else 'null' end as remote_user
      from (
            select g.*,
                   case when g.mode not in ('user', 'ensure_user') then 'integer' end as shard_type,
                   case when g.mode in ('user', 'ensure_user') then 1 else 2 end as first
              from functions as g
           ) as f
),

bodies as (
    select c.*,
           case
           when c.mode in ('user', 'ensure_user') then format($body$
declare
    v_attempt integer := 0;
    v_state   text;
    v_message text;
    v_detail  text;
    v_hint    text;
begin
    loop%s
        begin
            %s;%s
        exception when others or query_canceled then
            get stacked diagnostics
                v_state = returned_sqlstate, v_message = message_text,
                v_detail = pg_exception_detail, v_hint = pg_exception_hint;
        end;
        perform recall_proxy.check_error(recall_proxy.shard_of(%s), v_attempt, v_state, v_message,
                                         v_detail, v_hint);
        v_attempt := v_attempt + 1;
    end loop;
end;
$body$, case when c.name in ('forget_user', 'forget_session', 'clear_session', 'forget_memory')
             then format(E'\n        perform recall_proxy.check_moves(p_user_id, %s);',
                         (c.name <> 'forget_user')::text)
             else '' end,
        case when c.is_void then 'perform ' || c.call
             when c.is_set then 'return query select * from ' || c.call
             else 'return ' || c.call end,
        case when c.is_set or c.is_void then ' return;' else '' end,
        case c.mode when 'user' then 'p_user_id' else 'recall_proxy.user_of(p_external_id)' end)
           when c.mode = 'any' then format($body$
declare
    v_shard   integer;
    v_state   text;
    v_message text;
    v_detail  text;
    v_hint    text;
begin
    for v_shard in select s.shard_no from recall_proxy.list_shards() as s loop
        begin
            %s;%s
        exception when others or query_canceled then
            get stacked diagnostics
                v_state = returned_sqlstate, v_message = message_text,
                v_detail = pg_exception_detail, v_hint = pg_exception_hint;
        end;
        exit when not recall_proxy.is_unreachable(v_state, v_message);
    end loop;
    perform recall_proxy.check_error(v_shard, 0, v_state, v_message, v_detail, v_hint);
end;
$body$, case when c.is_set then 'return query select * from ' || c.call
             else 'return ' || c.call end,
        case when c.is_set then ' return;' else '' end)
           when c.mode in ('every', 'sum') then format($body$
declare
    v_shard    integer;
    v_name     text;
    v_failures jsonb := '[]';
    v_result   %s;
    v_message  text;
    v_detail   text;
    v_hint     text;
begin
    for v_shard, v_name in
        select s.shard_no, s.name from recall_proxy.list_shards() as s order by s.shard_no
    loop
        begin
            %s;
        exception when others or query_canceled then
            get stacked diagnostics v_message = message_text, v_detail = pg_exception_detail,
                                    v_hint = pg_exception_hint;
            perform recall_proxy.check_canceled(sqlstate, v_message);
            v_failures := v_failures || jsonb_build_object(
                'shard', v_name, 'state', sqlstate,
                'message', regexp_replace(v_message, '^[^[]*\[[^]]*\] (REMOTE [A-Z]+: )?', ''),
                'detail', regexp_replace(v_detail, '^Remote detail: ', ''),
                'hint', regexp_replace(v_hint, '^Remote hint: ', ''));
        end;
    end loop;
    perform recall_proxy.check_failures(v_failures);
    %s
end;
$body$, case when c.is_void then 'text' else c.result end,
        case when c.is_void then 'perform ' || c.call
             when c.mode = 'sum' then 'v_result := coalesce(v_result, 0) + ' || c.call
             else 'v_result := ' || c.call end,
        case when c.is_void then '' else 'return v_result;' end)
           when c.mode = 'claim_jobs' then format($body$
#variable_conflict use_column
declare
    v_shard    integer;
    v_name     text;
    v_count    integer := 0;
    v_rows     integer;
    v_answered boolean := false;
    v_settings jsonb   := recall_proxy.settings();
    v_state    text;
    v_message  text;
    v_detail   text;
    v_hint     text;
begin
    -- a lock on one shard shall not keep back the jobs of others
    if v_settings ->> 'lock_timeout' = '0' then
        v_settings := v_settings || '{"lock_timeout": "2s"}';
    end if;
    -- From a random shard on, so that no shard waits while another one has jobs.
    for v_shard, v_name in
        select s.shard_no, s.name from recall_proxy.reachable_shards() as s
    loop
        begin
            return query
            select r.* from %s as r where recall_proxy.shard_of(r.user_id) = v_shard;
            get diagnostics v_rows = row_count;
            v_count := v_count + v_rows;
            v_answered := true;
        exception when others or query_canceled then
            -- the jobs of other shards are leased already, so the caller must get them
            get stacked diagnostics
                v_state = returned_sqlstate, v_message = message_text,
                v_detail = pg_exception_detail, v_hint = pg_exception_hint;
            if v_count = 0 then
                perform recall_proxy.check_canceled(v_state, v_message);
            end if;
            raise warning 'shard %% has given no jobs', v_name using detail = v_message;
            exit when v_state = '57014';  -- the time of this call is over
        end;
        exit when v_count >= p_limit;
    end loop;
    if not v_answered and v_state is not null then
        perform recall_proxy.check_error(v_shard, 100, v_state, v_message, v_detail, v_hint);
    end if;
end;
$body$, c.call)
           when c.mode in ('query', 'sweep') then format($body$
#variable_conflict use_column
declare
    v_state   text;
    v_message text;
    v_detail  text;
    v_hint    text;
begin
    return query
    %s;
exception when others or query_canceled then
    get stacked diagnostics
        v_state = returned_sqlstate, v_message = message_text,
        v_detail = pg_exception_detail, v_hint = pg_exception_hint;
    perform recall_proxy.check_error(null, 100, v_state, v_message, v_detail, v_hint);
end;
$body$, replace(coalesce(c.query,
            'select coalesce(sum(r.done), 0)::integer, coalesce(bool_or(r.more), false)
               from recall_proxy.reachable_shards() as s cross join lateral {call} as r'),
            '{call}', c.call))
           else format($body$
begin
    raise exception using
        errcode = 'RC007',
        message = 'recall.%s is not available through a proxy',
        hint    = 'It concerns one server: call it on each shard.';
end;
$body$, c.name) end as body
      from calls as c
),

written (place, name, statement) as (
    select -2, '', 'set search_path to pg_catalog, pg_temp'
    union all
    select -1, '', 'do $$ begin if to_regclass(''recall.settings'') is not null then '
        'raise exception using errcode = ''RC007'', message = ''this database has an installation '
        'of pgrecall'', hint = ''A proxy is a database of its own.''; end if; end $$'
    union all
    select 0, '', 'do $$ declare v_function text; begin for v_function in select '
        'p.oid::regprocedure from pg_catalog.pg_proc as p join pg_catalog.pg_language as l '
        'on l.oid = p.prolang where p.pronamespace = ''recall_proxy''::regnamespace '
        'and l.lanname = ''plproxy'' and p.prosrc like ''%recall_shard.enter%'' loop '
        'execute ''drop function '' || v_function; end loop; end $$'
    union all
    -- objects of others that use the functions and types of the former release
    select 0, '0', $check$do $$ declare v_names text; begin
        with members as (
            select d.classid, d.objid
              from pg_catalog.pg_depend as d
             where d.refclassid = 'pg_namespace'::regclass
               and d.refobjid = to_regnamespace('recall')
             union
            select 'pg_type'::regclass, t.typarray
              from pg_catalog.pg_type as t
             where t.typnamespace = to_regnamespace('recall') and t.typarray <> 0
             union
            select 'pg_class'::regclass, c.oid
              from pg_catalog.pg_class as c where c.relnamespace = to_regnamespace('recall')
        ), theirs as (
            select distinct
                   case when r.oid is null then d.classid else 'pg_class'::regclass end as classid,
                   coalesce(r.ev_class, d.objid) as objid,
                   case when r.oid is null then d.objsubid else 0 end as objsubid
              from pg_catalog.pg_depend as d
              join members as m on m.classid = d.refclassid and m.objid = d.refobjid
              left join pg_catalog.pg_rewrite as r
                on d.classid = 'pg_rewrite'::regclass and r.oid = d.objid
             where d.deptype = 'n' and (d.classid, d.objid) not in (select * from members)
        )
        select string_agg(pg_describe_object(t.classid, t.objid, t.objsubid), e'\n'
                          order by 1)
          into v_names
          from theirs as t
         where (t.classid, t.objid) not in (select * from members);
        if v_names is not null then
            raise exception using
                errcode = 'RC007',
                message = 'other objects use functions or types of schema recall',
                detail  = v_names,
                hint    = 'Drop what the detail names, and create it again afterwards.';
        end if;
    end $$ $check$
    union all
    select 0, '00', 'drop schema if exists recall cascade'
    union all
    select 0, '1', 'create schema recall'
    union all
    select 0, '2', format('comment on schema recall is %L',
                          'pgrecall: a proxy before shards; the functions call a shard.')
    union all
    select 1, t.typname, format(
        'create type recall.%I as enum (%s)', t.typname, (
            select string_agg(quote_literal(e.enumlabel), ', ' order by e.enumsortorder)
              from pg_catalog.pg_enum as e where e.enumtypid = t.oid))
      from types as t
     where t.typtype = 'e'
    union all
    select 100 - t.depth, t.typname, format(
        'create type recall.%I as (%s)', t.typname, (
            select string_agg(format('%I %s', a.attname, format_type(a.atttypid, a.atttypmod)),
                              ', ' order by a.attnum)
              from pg_catalog.pg_attribute as a
             where a.attrelid = t.typrelid and a.attnum > 0 and not a.attisdropped))
      from types as t
     where t.typtype = 'c'
    union all
    -- clients ask the column of this table for the id of the type halfvec
    select 100, '', format('create type recall.memory_embedding as (embedding %s)',
                           format_type(a.atttypid, null))
      from pg_catalog.pg_attribute as a
     where a.attrelid = 'recall.memory_embedding'::regclass and a.attname = 'embedding'
    union all
    select 101, f.name, regexp_replace(pg_get_functiondef(f.oid), '\s+$', '')
      from functions as f
     where f.mode = 'copy'
    union all
    select 102, b.name, format(
        'create function recall_proxy.%I(%s) returns %s language plproxy as %L', b.name, b.types,
        case when b.is_void then 'text' else b.result end,
        format(E'\n    cluster ''recall'';\n    run on %s;\n    select %s\n'
               '      from recall_shard.enter($%s, %s) as e (id)\n'
               '     cross join lateral %s as r;\n',
               case b.first when 1 then format('recall_proxy.shard_of(%s)',
                                                replace(b.remote_user, '_shard', '_proxy'))
                            else '$1' end,
               case when b.is_void then 'r::text as done'
                    when b.is_set then 'r.*' else 'r as answer' end, b.first, b.remote_user,
               b.remote))
      from bodies as b
     where b.mode not in ('copy', 'shard')
    union all
    select 103, b.name, format(
        'create %s recall.%I(%s) %s language plpgsql%s set search_path to pg_catalog, pg_temp '
        'as %L',
        case b.prokind when 'p' then 'procedure' else 'function' end, b.name, b.arguments,
        case when b.prokind = 'f' then 'returns ' || b.result else '' end,
        case when b.prokind = 'f' then ' volatile parallel unsafe' else '' end, b.body)
      from bodies as b
     where b.mode <> 'copy'
    union all
    select 104, f.name, format('comment on %s recall.%I(%s) is %L',
                               case f.prokind when 'p' then 'procedure' else 'function' end,
                               f.name, f.identity, obj_description(f.oid, 'pg_proc'))
      from functions as f
    union all
    select 105, '', format('revoke all on all routines in schema %s from public', s.name)
      from unnest(array['recall', 'recall_proxy']) as s (name)
    union all
    select 106, g.role, format(
        'do %L', format(
            'begin if to_regrole(%L) is null then create role %I nologin; end if; '
            'grant usage on schema recall, recall_proxy to %I; '
            'grant usage on foreign server recall to %I; '
            'grant execute on function recall_proxy.shard_of(uuid), recall_proxy.settings(), '
            'recall_proxy.user_of(text), '
            'recall_proxy.list_shards(), recall_proxy.ping(integer), recall_proxy.check_shards(), '
            'recall_proxy.reachable_shards(), recall_proxy.is_unreachable(text, text), '
            'recall_proxy.check_canceled(text, text), '
            'recall_proxy.check_error(integer, integer, text, text, text, text), '
            'recall_proxy.check_failures(jsonb), recall_proxy.check_moves(uuid, boolean), '
            'recall_proxy.merge_erasures(jsonb) to %I; end', quote_ident(g.role), g.role, g.role,
            g.role, g.role))
      from (select distinct unnest(f.roles) as role from functions as f) as g
    union all
    select 107, f.name, format(
        'grant execute on %s recall.%I(%s) to %I',
        case f.prokind when 'p' then 'procedure' else 'function' end, f.name, f.identity, g.role)
      from functions as f
     cross join lateral unnest(f.roles) as g (role)
    union all
    select 107, f.name, format('grant execute on function recall_proxy.%I(%s) to %I', f.name,
                               f.types, g.role)
      from bodies as f
     cross join lateral unnest(f.roles) as g (role)
     where f.mode not in ('copy', 'shard')
),

-- The proxy may have halfvec in another schema, which is on no path: others may create there.
statements (place, name, statement) as (
    select w.place, w.name,
           case when w.statement = r.statement then w.statement
                else format('do %L', format(
                    'begin execute replace(%L, ''{vector}'', (select quote_ident(n.nspname) from '
                    'pg_catalog.pg_extension as e join pg_catalog.pg_namespace as n '
                    'on n.oid = e.extnamespace where e.extname = ''vector'')); end', r.statement))
           end
      from written as w
     cross join (
            select quote_ident(n.nspname) || '.halfvec' as halfvec
              from pg_catalog.pg_extension as e
              join pg_catalog.pg_namespace as n on n.oid = e.extnamespace
             where e.extname = 'vector') as v
     cross join lateral replace(w.statement, v.halfvec, '{vector}.halfvec') as r (statement)
),

-- shards whose functions differ give another checksum
checksum (value) as (
    select md5(string_agg(s.statement, E'\n' order by s.place, s.name, s.statement))
      from statements as s
),

release (place, name, statement) as (
    select 108, '1', 'delete from recall_proxy.release'
    union all
    select 108, '2', format('insert into recall_proxy.release (version, checksum) '
                            'values (%L, %L)', recall.version(), c.value)
      from checksum as c
)

select s.statement || ';'
  from (
        select t.place, t.name, t.statement from statements as t
        union all
        select r.place, r.name, r.statement from release as r
       ) as s
 order by s.place, s.name, s.statement;
