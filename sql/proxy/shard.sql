-- Prepare an installation to be a shard behind a proxy; repeatable.
-- The schema recall_shard holds what only shards need, so that an installation without a proxy is
-- not changed. `recall_shard.enter` takes over the caller's settings for one statement, and fences
-- a user who is being moved.
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
-- The lock of the user's row stops sweeps, which come from this shard and not through the proxy.
-- Raises  RC001.
create or replace function recall_shard.hold_user(
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
    perform 1 from recall.users as u where u.user_id = p_user_id for update;
    if not found then
        raise exception using
            errcode = 'RC001',
            message = format('this shard has no user %s', p_user_id),
            hint    = 'pgrecall shards status tells where users live.';
    end if;
end;
$function$;

comment on function recall_shard.hold_user(uuid) is
    'Keep all calls and sweeps from a user until the transaction ends.';

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
declare
    v_counts jsonb;
begin
    if not exists (
        select from recall_shard.departed_users as d where d.user_id = p_user_id
    ) then
        raise exception using
            errcode = 'RC007',
            message = format('user %s was not moved away', p_user_id),
            hint    = 'pgrecall shards move moves a user.';
    end if;
    v_counts := recall._delete_user(p_user_id);
    return v_counts || recall._delete_unlogged(array[p_user_id]);
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
    for v_leaf in select l.leaf from recall._user_leaves(p_user_id, null) as l (leaf) loop
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

-- Prepare this shard for the rows of a user; a copy that an interrupted move has left goes first.
-- COPY creates no months, so those of p_months are created here.
-- Raises  RC007 the user has rows here that no interrupted move has left.
create or replace function recall_shard.receive_user(
    p_user_id    uuid,
    p_is_resumed boolean,
    p_months     jsonb
)
returns void
language plpgsql
volatile
parallel unsafe
set search_path to pg_catalog, pg_temp
as $function$
declare
    v_table record;
    v_month record;
    v_found boolean := false;
begin
    perform pg_advisory_xact_lock(recall_shard.move_key(p_user_id));
    for v_table in select t.name from recall._user_tables() as t loop
        execute format('select exists (select from %s as t where t.user_id = $1)', v_table.name)
           into v_found using p_user_id;
        exit when v_found;
    end loop;
    if v_found then
        if not p_is_resumed and not exists (
            select from recall_shard.departed_users as d where d.user_id = p_user_id
        ) then
            raise exception using
                errcode = 'RC007',
                message = format('user %s has rows on the receiving shard already', p_user_id),
                hint    = 'Find out which rows are right. recall_shard.depart and '
                          'remove_departed delete the others on that shard.';
        end if;
        perform recall._delete_user(p_user_id);
        perform recall._delete_unlogged(array[p_user_id]);
    end if;
    delete from recall_shard.departed_users as d where d.user_id = p_user_id;

    for v_month in
        select m.name::regclass as name, m.month
          from jsonb_to_recordset(p_months) as m (name text, month timestamptz)
    loop
        perform recall._ensure_month(
            coalesce(recall._hash_leaf(v_month.name, p_user_id), v_month.name), v_month.month);
    end loop;
end;
$function$;

comment on function recall_shard.receive_user(uuid, boolean, jsonb) is
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
        execute format('grant execute on function recall_shard.enter(jsonb, uuid) to %I', v_role);
    end loop;
    if to_regrole(quote_ident(v_prefix || '_admin')) is not null then
        execute format('grant execute on function recall_shard.users_in_slots(integer[]) to %I',
                       v_prefix || '_admin');
    end if;
end;
$rights$;
