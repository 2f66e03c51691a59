-- Prepare an installation to be a shard behind a proxy; repeatable, in one transaction (psql -1).
-- The schema recall_shard holds what only shards need, so that an installation without a proxy is
-- not changed. `recall_shard.enter` takes over the caller's settings for one statement, and fences
-- a user who is being moved.
set search_path to pg_catalog, pg_temp;
do $shard$
declare
    v_owner constant name := (
        select pg_catalog.pg_get_userbyid(n.nspowner)
          from pg_catalog.pg_namespace as n
         where n.nspname = 'recall');
begin
    if to_regclass('recall.settings') is null then
        raise exception using
            errcode = 'RC007',
            message = format('database %I has no schema recall of pgrecall', current_database()),
            hint    = 'pgrecall install --dsn DSN installs it.';
    end if;
    if to_regnamespace('recall_shard') is null then
        execute format('create schema recall_shard authorization %I', v_owner);
    elsif exists (
        select
          from pg_catalog.pg_namespace as n
         where n.nspname = 'recall_shard'
           and pg_catalog.pg_get_userbyid(n.nspowner) <> v_owner
    ) then
        raise exception using
            errcode = 'RC007',
            message = format('schema recall_shard does not belong to %I, as recall does', v_owner),
            hint    = format('Drop or rename it where it is not pgrecall''s; or hand it over: '
                             'reassign its objects, and alter schema recall_shard owner to %I;',
                             v_owner);
    end if;
    execute format('set local role %I', v_owner);
end;
$shard$;

comment on schema recall_shard is 'pgrecall: what a shard behind a proxy needs.';

create table if not exists recall_shard.departed_users (
    user_id     uuid        not null,
    departed_at timestamptz not null default clock_timestamp(),
    constraint departed_users_pkey primary key (user_id)
);
comment on table recall_shard.departed_users is
    'Users who were moved to another shard. Calls for them are refused here.';

-- Take over the caller's settings for this statement, and wait for a move of the user.
-- PL/Proxy sends each call as a statement of its own, so a local setting ends with the call. Only
-- the settings named here are accepted. An empty identity keeps one that the role has by default.
-- Locks   the user against a move, until the end of the call.
-- Raises  RC007 another release than the proxy's, RCM01 the user was moved to another shard.
create or replace function recall_shard.enter(
    p_settings jsonb,
    p_user_id  uuid
)
returns uuid
language plpgsql
volatile
parallel unsafe
security definer
set search_path to pg_catalog, pg_temp
as $function$
declare
    v_name text;
begin
    if p_settings ->> 'version' is distinct from recall.version() then
        raise exception using
            errcode = 'RC007',
            message = format('this shard is of release %s, the proxy of %s', recall.version(),
                             p_settings ->> 'version'),
            hint    = 'Upgrade all shards, then run: pgrecall shards init';
    end if;

    foreach v_name in array array['recall.user_id', 'recall.user_key', 'recall.embedding_model',
                                  'TimeZone', 'lock_timeout', 'transaction_read_only'] loop
        if p_settings ->> v_name <> '' then
            perform set_config(v_name, p_settings ->> v_name, true);
        end if;
    end loop;

    if p_user_id is not null then
        perform pg_advisory_xact_lock_shared(recall_shard.move_key(p_user_id));
        if exists (
            select from recall_shard.departed_users as d where d.user_id = p_user_id
        ) then
            raise exception using
                errcode = 'RCM01',
                message = format('user %s was moved to another shard', p_user_id),
                hint    = 'Repeat the call through the proxy.';
        end if;
    end if;
    return p_user_id;
end;
$function$;

comment on function recall_shard.enter(jsonb, uuid) is
    'Take over the settings of a call through the proxy, and wait for a move of its user.';

-- Return the user that ensure_user creates, also where it refuses a UUIDv8 as their name.
create or replace function recall_shard.user_of(
    p_external_id text
)
returns uuid
language plpgsql
immutable
parallel safe
security definer
set search_path to pg_catalog, pg_temp
as $function$
begin
    return coalesce(recall._id_in_name(p_external_id), recall.user_id(p_external_id));
end;
$function$;

comment on function recall_shard.user_of(text) is 'The user that ensure_user creates.';

-- Return the key of the advisory lock that a move of the user takes.
create or replace function recall_shard.move_key(
    p_user_id uuid
)
returns bigint
language sql
immutable
parallel safe
return hashtextextended('recall_shard.move ' || p_user_id::text, 0);

comment on function recall_shard.move_key(uuid) is 'Key of the lock against a move of the user.';

-- Wait until no call works on the user, and keep new calls waiting until the transaction ends.
-- Calls queue behind a waiting lock, so each wait is short and repeated. The lock of the user's row
-- stops most sweeps, which come from this shard and not through the proxy. Others, such as
-- `expire_working`, may still delete rows. Returns how long the hold lasts already.
-- Locks   the user against calls, then the user's row.
-- Raises  RC001; 55P03 calls never stop.
drop function if exists recall_shard.hold_user(uuid);
create function recall_shard.hold_user(
    p_user_id uuid
)
returns interval
language plpgsql
volatile
parallel unsafe
set search_path to pg_catalog, pg_temp
set lock_timeout to '1s'
as $function$
declare
    v_tries constant integer := 60;
    v_began timestamptz;
begin
    for v_try in 1 .. v_tries loop
        begin
            v_began := clock_timestamp();
            perform pg_advisory_xact_lock(recall_shard.move_key(p_user_id));
            perform 1 from recall.users as u where u.user_id = p_user_id for update;
            exit;
        exception when lock_not_available then  -- its end releases the locks
            if v_try = v_tries then
                raise;
            end if;
        end;
        perform pg_sleep(0.2);
    end loop;
    if not exists (select from recall.users as u where u.user_id = p_user_id) then
        raise exception using
            errcode = 'RC001',
            message = format('this shard has no user %s', p_user_id),
            hint    = 'recall_proxy.status() tells where users live.';
    end if;
    return clock_timestamp() - v_began;
end;
$function$;

comment on function recall_shard.hold_user(uuid) is
    'Keep all calls from a user until the transaction ends; how long that lasts already.';

-- Return where a user is: 'here', 'departed' to another shard, or 'gone'.
-- It waits for a move to end. A departure may be on disk and not visible yet, while its commit
-- waits for a standby; then the other shard has the only copy. Calls go on.
-- Locks   the user against a departure, until the transaction ends.
-- Raises  55P03 another transaction moves the user and does not end.
create or replace function recall_shard.find_user(
    p_user_id uuid
)
returns text
language plpgsql
volatile
parallel unsafe
set search_path to pg_catalog, pg_temp
set lock_timeout to '60s'
as $function$
begin
    perform pg_advisory_xact_lock_shared(recall_shard.move_key(p_user_id));
    return case
           when exists (
                    select from recall_shard.departed_users as d where d.user_id = p_user_id)
           then 'departed'
           when exists (select from recall.users as u where u.user_id = p_user_id)
           then 'here'
           else 'gone'
           end;
end;
$function$;

comment on function recall_shard.find_user(uuid) is
    'Where a user is: here, departed to another shard, or gone.';

-- Refuse all later calls for a user whose data another shard has committed.
-- The user's row and jobs go at once, so that no sweep and no worker finds the user. The other rows
-- are deleted by `remove_departed`, when nobody waits any more.
create or replace function recall_shard.depart(
    p_user_id uuid
)
returns void
language plpgsql
volatile
parallel unsafe
set search_path to pg_catalog, pg_temp
as $function$
begin
    delete from recall.jobs as j where j.user_id = p_user_id;
    delete from recall.users as u where u.user_id = p_user_id;
    insert into recall_shard.departed_users (user_id) values (p_user_id);
end;
$function$;

comment on function recall_shard.depart(uuid) is 'Refuse all later calls for a moved user.';

-- Delete what a moved user has left here; return the deleted rows by table.
-- It leaves no record of an erasure: a replay would erase the user when they have moved back.
-- Raises  RC007 the user has not departed.
create or replace function recall_shard.remove_departed(
    p_user_id uuid
)
returns jsonb
language plpgsql
volatile
parallel unsafe
set search_path to pg_catalog, pg_temp
as $function$
begin
    if not exists (
        select from recall_shard.departed_users as d where d.user_id = p_user_id
    ) then
        raise exception using
            errcode = 'RC007',
            message = format('user %s was not moved away', p_user_id),
            hint    = 'pgrecall shards move moves a user.';
    end if;
    return recall._erase_user(p_user_id);
end;
$function$;

comment on function recall_shard.remove_departed(uuid) is
    'Delete the remaining rows of a moved user.';

-- List the months of a user's rows, which the receiving shard must have.
-- Raises  RC007 the user has rows in detached months, which are no part of the installation.
create or replace function recall_shard.user_months(
    p_user_id uuid
)
returns table (
    name  text,
    month timestamptz
)
language plpgsql
stable
parallel safe
set search_path to pg_catalog, pg_temp
as $function$
declare
    v_leaf  regclass;
    v_found boolean;
begin
    for v_leaf in select l.leaf from recall._detached_tables() as l (leaf) loop
        execute format('select exists (select from %s as t where t.user_id = $1)', v_leaf)
           into v_found using p_user_id;
        if v_found then
            raise exception using
                errcode = 'RC007',
                message = format('user %s has rows in the detached partition %s', p_user_id,
                                 v_leaf),
                hint    = 'A move would leave them behind. Attach the partition, move it to '
                          'another schema, or drop it.';
        end if;
    end loop;

    for name in
        select format('recall.%I', c.relname)
          from recall._user_tables() as t
          join pg_catalog.pg_class as c on c.oid = t.name
          join pg_catalog.pg_partitioned_table as p
            on p.partrelid = coalesce(recall._hash_leaf(t.name, p_user_id), t.name)
         where p.partstrat = 'r'
    loop
        return query execute format(
            'select %L, date_trunc(''month'', t.created_at, ''UTC'') from %s as t '
            'where t.user_id = $1 group by 2', name, name) using p_user_id;
    end loop;
end;
$function$;

comment on function recall_shard.user_months(uuid) is 'Months of a user''s rows, by table.';

-- Create the months that the rows of a user need here.
-- This transaction ends before the copy begins: a new partition locks its table against writers.
create or replace function recall_shard.ensure_months(
    p_user_id uuid,
    p_months  jsonb
)
returns void
language plpgsql
volatile
parallel unsafe
set search_path to pg_catalog, pg_temp
as $function$
declare
    v_month record;
begin
    for v_month in
        select m.name::regclass as name, m.month
          from jsonb_to_recordset(p_months) as m (name text, month timestamptz)
    loop
        perform recall._ensure_month(
            coalesce(recall._hash_leaf(v_month.name, p_user_id), v_month.name), v_month.month);
    end loop;
end;
$function$;

comment on function recall_shard.ensure_months(uuid, jsonb) is
    'Create the months that the rows of a user need.';

-- Delete the copy of a user that an interrupted move has left here.
-- The first lock waits for a receiving transaction that still commits.
-- Locks   what forget_user locks.
create or replace function recall_shard.remove_copy(
    p_user_id uuid
)
returns void
language plpgsql
volatile
parallel unsafe
set search_path to pg_catalog, pg_temp
as $function$
begin
    perform pg_advisory_xact_lock(recall_shard.move_key(p_user_id));
    perform recall._erase_user(p_user_id);
end;
$function$;

comment on function recall_shard.remove_copy(uuid) is
    'Delete the copy of a user that an interrupted move has left.';

-- Prepare this shard for the rows of a user; what an earlier departure has left goes first.
-- Raises  RC007 the user has rows here.
drop function if exists recall_shard.receive_user(uuid, boolean, jsonb);
drop function if exists recall_shard.receive_user(uuid, boolean);
create or replace function recall_shard.receive_user(
    p_user_id uuid
)
returns void
language plpgsql
volatile
parallel unsafe
set search_path to pg_catalog, pg_temp
as $function$
declare
    v_table record;
    v_found boolean := false;
begin
    perform pg_advisory_xact_lock(recall_shard.move_key(p_user_id));
    for v_table in select t.name from recall._user_tables() as t loop
        execute format('select exists (select from %s as t where t.user_id = $1)', v_table.name)
           into v_found using p_user_id;
        exit when v_found;
    end loop;
    if v_found then
        if not exists (
            select from recall_shard.departed_users as d where d.user_id = p_user_id
        ) then
            raise exception using
                errcode = 'RC007',
                message = format('user %s has rows on the receiving shard already', p_user_id),
                hint    = 'Find out which rows are right. recall_shard.depart and '
                          'remove_departed delete the others on that shard.';
        end if;
        perform recall._erase_user(p_user_id);
    end if;
    delete from recall_shard.departed_users as d where d.user_id = p_user_id;
end;
$function$;

comment on function recall_shard.receive_user(uuid) is
    'Prepare this shard for the rows of a user.';

-- List the users whose slot is one of these; the first ten bits of SHA-256 give the slot.
create or replace function recall_shard.users_in_slots(
    p_slots integer[]
)
returns setof uuid
language plpgsql
stable
parallel safe
security definer
set search_path to pg_catalog, pg_temp
as $function$
begin
    return query
    select u.user_id
      from recall.users as u
     where ((get_byte(sha256(uuid_send(u.user_id)), 0) << 2)
            | (get_byte(sha256(uuid_send(u.user_id)), 1) >> 6)) = any (p_slots);
end;
$function$;

comment on function recall_shard.users_in_slots(integer[]) is 'Users whose slot is one of these.';

-- Describe the tables that a move copies, in their order.
-- Rows without a primary key cannot be compared, so all of them are sent again at the end.
create or replace function recall_shard.user_tables()
returns table (
    name    text,
    columns text[],
    keys    text[]
)
language plpgsql
stable
parallel safe
set search_path to pg_catalog, pg_temp
as $function$
begin
    return query
    select format('recall.%I', c.relname),
           array(select a.attname::text
                   from pg_catalog.pg_attribute as a
                  where a.attrelid = c.oid
                    and a.attnum > 0
                    and not a.attisdropped
                    and a.attgenerated = ''
                    and a.attidentity = ''
                  order by a.attname),
           array(select a.attname::text
                   from pg_catalog.pg_constraint as k
                   join pg_catalog.pg_attribute as a
                     on a.attrelid = c.oid and a.attnum = any (k.conkey)
                  where k.conrelid = c.oid and k.contype = 'p'
                  order by a.attname)
      from recall._user_tables() as t
      join pg_catalog.pg_class as c on c.oid = t.name
     order by t.place;
end;
$function$;

comment on function recall_shard.user_tables() is 'Tables that a move copies, with their columns.';

-- Finish a batch of backfills for one user; return where to continue, NULL at the end.
-- The backfill of the receiving shard may have passed the place of the user, or have ended.
-- Locks   the user.
create or replace function recall_shard.finish_backfills(
    p_user_id  uuid,
    p_position jsonb
)
returns jsonb
language plpgsql
volatile
parallel unsafe
set search_path to pg_catalog, pg_temp
as $function$
declare
    v_done jsonb := coalesce(p_position -> 'done', '[]');
    v_name text;
    v_at   jsonb;
begin
    perform from recall.users as u where u.user_id = p_user_id for no key update;
    if not found then
        return null;
    end if;
    select b.backfill
      into v_name
      from recall.backfills as b
     where b.finished_at is null
       and not v_done ? b.backfill
     order by b.migration, b.backfill
     limit 1;
    if not found then
        return null;
    end if;
    execute format('select o_position from recall.%I($1, $2, 1000)', '_backfill_' || v_name)
       into v_at
      using p_user_id, case when p_position ->> 'backfill' = v_name
                            then nullif(p_position -> 'at', 'null') end;
    return jsonb_build_object(
        'done', case when v_at is null then v_done || to_jsonb(v_name) else v_done end,
        'backfill', v_name, 'at', v_at);
end;
$function$;

comment on function recall_shard.finish_backfills(uuid, jsonb) is
    'Finish a batch of backfills for one user; where to continue.';

-- Return whether the walk that enqueues embed jobs after a change of settings comes to a user yet.
create or replace function recall_shard.awaits_walk(
    p_user_id uuid
)
returns boolean
language plpgsql
stable
parallel safe
set search_path to pg_catalog, pg_temp
as $function$
begin
    return not exists (
        select from recall.maintenance_tasks as t
         cross join recall.settings as s
         where t.task = 'enqueue_missing_embeddings'
           and t.position @> jsonb_build_object('model', s.embedding_model,
                                                'messages', s.embed_messages)
           and (t.position ? 'done' or (t.position ->> 'after')::uuid >= p_user_id));
end;
$function$;

comment on function recall_shard.awaits_walk(uuid) is
    'Whether the walk that enqueues embed jobs comes to a user yet.';

-- Raise when this shard cannot give or take a user now.
-- Raises  RC007 another release than the proxy's, or the embedding model is being changed.
create or replace function recall_shard.check_move(
    p_version text
)
returns void
language plpgsql
volatile
parallel unsafe
set search_path to pg_catalog, pg_temp
as $function$
begin
    if recall.version() <> p_version then
        raise exception using
            errcode = 'RC007',
            message = format('this shard is of release %s, the proxy of %s', recall.version(),
                             p_version),
            hint    = 'Upgrade all shards, then run: pgrecall shards init';
    end if;
    if exists (select from recall.embedding_migrations as m where m.ended_at is null) then
        raise exception using
            errcode = 'RC007',
            message = format('shard %I changes its embedding model', current_database()),
            hint    = 'Each shard is at another user, so a moved one could be left out. Wait until '
                      'recall.get_embedding_migration() shows the end, or cancel the change.';
    end if;
end;
$function$;

comment on function recall_shard.check_move(text) is
    'Raise when this shard cannot give or take a user now.';

-- Open a cursor on a user's rows of a table: all, or those written since a transaction.
-- It counts the rows first, because deleted ones show in their number only. A table without a
-- change opens no cursor. age() compares ids of transactions across their wraparound; ids of
-- subtransactions are above the oldest running transaction, too.
create or replace function recall_shard.open_rows(
    p_user_id   uuid,
    p_table     text,
    p_columns   text[],
    p_since     xid,
    out o_rows  bigint,
    out o_found bigint
)
language plpgsql
volatile
parallel unsafe
set search_path to pg_catalog, pg_temp
set jit to off
as $function$
declare
    v_cursor    refcursor := 'moved_rows';
    v_condition text := case when p_table = 'recall.system_prompts'
                             then 't.prompt_hash in (select s.system_prompt_hash '
                                  'from recall.sessions as s where s.user_id = $1)'
                             else 't.user_id = $1' end;
begin
    if exists (select from pg_catalog.pg_cursors as c where c.name = 'moved_rows') then
        close v_cursor;
    end if;
    if p_since is not null then
        execute format(
            'select count(*), count(*) filter (where age(t.xmin) <= $2) from %s as t where %s',
            p_table, v_condition)
           into o_rows, o_found using p_user_id, age(p_since);
        if o_found = 0 then
            return;
        end if;
        v_condition := v_condition || ' and age(t.xmin) <= $2';
    end if;
    open v_cursor for execute format(
        'select array_to_json(array[%s])::text from %s as t where %s',
        (select string_agg(format('t.%I::text', c.name), ', ' order by c.place)
           from unnest(p_columns) with ordinality as c (name, place)),
        p_table, v_condition) using p_user_id, age(p_since);
end;
$function$;

comment on function recall_shard.open_rows(uuid, text, text[], xid) is
    'Open a cursor on rows of a user; how many there are, and how many have changed.';

-- Return the next rows of the cursor, about a megabyte of JSON; NULL at the end.
-- The settings make the text of a value independent of the role and the database.
create or replace function recall_shard.read_rows()
returns text
language plpgsql
volatile
parallel unsafe
set search_path to pg_catalog, pg_temp
set datestyle to 'ISO, YMD'
set intervalstyle to 'postgres'
set timezone to 'UTC'
set bytea_output to 'hex'
set extra_float_digits to 1
as $function$
declare
    v_cursor refcursor := 'moved_rows';
    v_row    text;
    v_rows   text[] := '{}';
    v_size   integer := 0;
begin
    while v_size < 1000000 loop
        fetch v_cursor into v_row;
        exit when not found;
        v_rows := v_rows || v_row;
        v_size := v_size + length(v_row);
    end loop;
    if v_size = 0 then
        close v_cursor;
        return null;
    end if;
    return '[' || array_to_string(v_rows, ',') || ']';
end;
$function$;

comment on function recall_shard.read_rows() is 'Next rows of the cursor of a move.';

-- Return expressions that read columns of a table from the JSON array r.item.
create or replace function recall_shard.read_columns(
    p_table   text,
    p_columns text[]
)
returns text[]
language plpgsql
stable
parallel safe
set search_path to pg_catalog, pg_temp
as $function$
begin
    return array(
        select format('(r.item ->> %s)::%s', c.place - 1, format_type(a.atttypid, a.atttypmod))
          from unnest(p_columns) with ordinality as c (name, place)
          join pg_catalog.pg_attribute as a
            on a.attrelid = p_table::regclass and a.attname = c.name
         order by c.place);
end;
$function$;

comment on function recall_shard.read_columns(text, text[]) is
    'Expressions that read columns from a JSON array.';

-- Insert rows of a JSON array of arrays, or those of `stage_rows` without it; return how many.
-- Users share system prompts. Their update locks a prompt, so that no purge deletes it before the
-- sessions are visible.
create or replace function recall_shard.add_rows(
    p_table   text,
    p_columns text[],
    p_rows    jsonb
)
returns integer
language plpgsql
volatile
parallel unsafe
set search_path to pg_catalog, pg_temp
as $function$
declare
    v_count integer;
begin
    execute format(
        'insert into %s (%s) select %s from %s %s', p_table,
        (select string_agg(quote_ident(c.name), ', ' order by c.place)
           from unnest(p_columns) with ordinality as c (name, place)),
        array_to_string(recall_shard.read_columns(p_table, p_columns), ', '),
        case when p_rows is null then 'pg_temp.moved_rows as r where not r.are_keys'
             else 'jsonb_array_elements($1) as r (item)' end,
        case when p_table = 'recall.system_prompts'
             then 'order by 1 on conflict (prompt_hash, prompt_id) do update '
                  'set released_at = null'
             else '' end)
      using p_rows;
    get diagnostics v_count = row_count;
    return v_count;
end;
$function$;

comment on function recall_shard.add_rows(text, text[], jsonb) is
    'Insert rows of another shard; how many.';

-- Keep rows or keys of a table until the next call with an empty array.
create or replace function recall_shard.stage_rows(
    p_are_keys boolean,
    p_rows     jsonb
)
returns void
language plpgsql
volatile
parallel unsafe
set search_path to pg_catalog, pg_temp
as $function$
begin
    create temp table if not exists moved_rows (are_keys boolean, item jsonb) on commit drop;
    if p_rows = '[]' then
        truncate pg_temp.moved_rows;
    end if;
    insert into pg_temp.moved_rows (are_keys, item)
    select p_are_keys, r.item from jsonb_array_elements(p_rows) as r (item);
end;
$function$;

comment on function recall_shard.stage_rows(boolean, jsonb) is
    'Keep rows or keys of another shard.';

-- Delete the rows of a user that staged rows replace, or those whose keys are not staged.
-- Without columns the staged keys are all that the other shard has. Without keys all rows go.
create or replace function recall_shard.drop_rows(
    p_user_id uuid,
    p_table   text,
    p_columns text[],
    p_keys    text[]
)
returns integer
language plpgsql
volatile
parallel unsafe
set search_path to pg_catalog, pg_temp
as $function$
declare
    v_count integer;
begin
    execute format('delete from %s as t where t.user_id = $1', p_table) || coalesce(format(
            ' and %s exists (select from pg_temp.moved_rows as r where r.are_keys = %L and ',
            case when p_columns is null then 'not' else '' end, p_columns is null) || (
            select string_agg(format('t.%I = %s', v.name, v.value), ' and ') || ')'
              from unnest(coalesce(p_columns, p_keys),
                          recall_shard.read_columns(p_table, coalesce(p_columns, p_keys)))
                   as v (name, value)
             where v.name = any (p_keys)), '')
      using p_user_id;
    get diagnostics v_count = row_count;
    return v_count;
end;
$function$;

comment on function recall_shard.drop_rows(uuid, text, text[], text[]) is
    'Delete the rows of a user that staged rows replace, or that the other shard lacks.';

-- Describe this shard: its release, its users, and digests of what all shards must have in common.
-- Calibrated and installed values are a shard's own.
create or replace function recall_shard.state()
returns table (
    version text,
    users   bigint,
    digests jsonb
)
language plpgsql
stable
parallel safe
security definer
set search_path to pg_catalog, pg_temp
as $function$
begin
    return query
    select recall.version(),
           (select count(*) from recall.users),
           jsonb_build_object(
               'settings', md5((recall.get_settings() - array[
                   'owner', 'role_prefix', 'share_roles', 'hash_partitions', 'history_from',
                   'history_until', 'history_months_ahead', 'scheduled_by', 'scheduled_in',
                   'has_overrides', 'has_sealed_users', 'unrelated_similarity',
                   'unrelated_deviation', 'hidden_embedding_model'])::text),
               'models', (
                   select md5(coalesce(string_agg(m::text, e'\n' order by m.model_id), ''))
                     from recall.list_models() as m),
               'kinds', (
                   select md5(coalesce(string_agg(k::text, e'\n' order by k.kind), ''))
                     from recall.memory_kinds as k),
               'prompts', (
                   select md5(coalesce(string_agg(concat_ws(' ', p.name, p.language, p.checksum),
                                                  e'\n' order by p.name, p.language), ''))
                     from recall.list_prompts() as p
                    where p.is_current));
end;
$function$;

comment on function recall_shard.state() is 'Release, users, and digests of common configuration.';

-- Let the callers' roles enter, and nobody else use the functions of a move.
do $rights$
declare
    v_prefix constant text := (select s.role_prefix from recall.settings as s);
    v_role   text;
begin
    revoke all on all functions in schema recall_shard from public;
    for v_role in
        select r.rolname
          from pg_catalog.pg_roles as r
         where r.rolname in (v_prefix || '_reader', v_prefix || '_writer', v_prefix || '_worker',
                             v_prefix || '_admin')
    loop
        execute format('grant usage on schema recall_shard to %I', v_role);
        execute format('grant execute on function recall_shard.enter(jsonb, uuid), '
                       'recall_shard.user_of(text) to %I', v_role);
    end loop;
    if to_regrole(quote_ident(v_prefix || '_admin')) is not null then
        execute format('grant execute on function recall_shard.users_in_slots(integer[]), '
                       'recall_shard.state() to %I', v_prefix || '_admin');
    end if;
end;
$rights$;
