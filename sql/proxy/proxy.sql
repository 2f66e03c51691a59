-- Prepare a database as the proxy before the shards; repeatable.
-- The schema recall_proxy knows the shards, and finds the shard of a user. `generate.sql` then
-- makes the functions of the schema recall. Only a superuser may create functions of PL/Proxy.
set search_path to pg_catalog, pg_temp;
do $proxy$
declare
    v_owner name;
begin
    if to_regclass('recall.settings') is not null then
        raise exception using
            errcode = 'RC007',
            message = format('database %I has an installation of pgrecall', current_database()),
            hint    = 'A proxy is a database of its own: create one, and pass its DSN.';
    end if;
    if not exists (
        select from pg_catalog.pg_available_extensions as a where a.name = 'plproxy'
    ) then
        raise exception using
            errcode = 'RC007',
            message = 'extension plproxy is not installed on this server',
            hint    = format('The server''s administrator adds the operating system package '
                             '(Debian: postgresql-%s-plproxy).',
                             current_setting('server_version_num')::integer / 10000);
    end if;
    -- The superuser would run what another role has put into it.
    select pg_catalog.pg_get_userbyid(n.nspowner)
      into v_owner
      from pg_catalog.pg_namespace as n
      join pg_catalog.pg_roles as r on r.oid = n.nspowner
     where n.nspname = 'recall_proxy'
       and not r.rolsuper;
    if found then
        raise exception using
            errcode = 'RC007',
            message = format('schema recall_proxy belongs to %I, who is no superuser', v_owner),
            hint    = 'Drop or rename it, or take a database of its own for the proxy.';
    end if;
end;
$proxy$;

create extension if not exists plproxy schema public;
create extension if not exists vector schema public;
create schema if not exists recall_proxy;
create extension if not exists dblink schema recall_proxy;  -- moves of users
do $dblink$
begin
    if to_regprocedure('recall_proxy.dblink_connect(text, text)') is null then
        raise exception using
            errcode = 'RC007',
            message = 'extension dblink is in another schema than recall_proxy',
            hint    = 'Move it: alter extension dblink set schema recall_proxy;';
    end if;
end;
$dblink$;
comment on schema recall_proxy is 'pgrecall: the shards behind this proxy, and where users live.';

create table if not exists recall_proxy.shards (
    shard_no   integer     not null,
    name       text        not null,
    connection text        not null,
    added_at   timestamptz not null default now(),
    constraint shards_pkey primary key (shard_no),
    constraint shards_shard_no_check check (shard_no between 0 and 1023),
    constraint shards_name_key unique (name),
    constraint shards_name_check check (name ~ '^[a-z0-9][a-z0-9_-]{0,62}$'),
    constraint shards_connection_key unique (connection)
);
comment on table recall_proxy.shards is
    'Shards by number. The connection is a libpq string without a user: each caller is their own.';

create table if not exists recall_proxy.slots (
    slot     integer not null,
    shard_no integer not null,
    constraint slots_pkey primary key (slot),
    constraint slots_slot_check check (slot between 0 and 1023),
    constraint slots_shard_no_fkey foreign key (shard_no) references recall_proxy.shards
);
comment on table recall_proxy.slots is
    'The shard of each of 1,024 slots. The id of a user gives a slot.';

create table if not exists recall_proxy.moved_users (
    user_id  uuid    not null,
    shard_no integer not null,
    constraint moved_users_pkey primary key (user_id),
    constraint moved_users_shard_no_fkey foreign key (shard_no) references recall_proxy.shards
);
comment on table recall_proxy.moved_users is 'Users who live on another shard than their slot.';

create table if not exists recall_proxy.moves (
    user_id    uuid        not null,
    from_shard integer     not null,
    to_shard   integer     not null,
    state      text        not null default 'copying',
    started_at timestamptz not null default clock_timestamp(),
    attempts   integer     not null default 1,
    constraint moves_pkey primary key (user_id),
    constraint moves_from_shard_fkey foreign key (from_shard) references recall_proxy.shards,
    constraint moves_to_shard_fkey foreign key (to_shard) references recall_proxy.shards,
    constraint moves_state_check check (state in ('copying', 'arrived'))
);
comment on table recall_proxy.moves is
    'Moves that are not finished. An arrived user lives on the new shard; the old rows remain.';

alter table recall_proxy.moves add column if not exists attempts integer not null default 1;

create table if not exists recall_proxy.release (
    version  text not null,
    checksum text not null
);
comment on table recall_proxy.release is
    'Release of the shards that the functions of this proxy were made for; one row.';

-- Return the slot of a user: the first ten bits of SHA-256, which no release of PostgreSQL changes.
create or replace function recall_proxy.slot_of(
    p_user_id uuid
)
returns integer
language sql
immutable
parallel safe
return (get_byte(sha256(uuid_send(p_user_id)), 0) << 2)
       | (get_byte(sha256(uuid_send(p_user_id)), 1) >> 6);

comment on function recall_proxy.slot_of(uuid) is 'Slot of a user, 0 to 1023.';

-- Return the user that ensure_user creates. The shard decides whether a UUIDv8 may be a name.
create or replace function recall_proxy.user_of(
    p_external_id text
)
returns uuid
language plpgsql
immutable
parallel safe
set search_path to pg_catalog, pg_temp
as $function$
begin
    if p_external_id collate "C"
       ~* '^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$' then
        return p_external_id::uuid;
    end if;
    return recall.user_id(p_external_id);
end;
$function$;

comment on function recall_proxy.user_of(text) is 'The user that ensure_user creates.';

-- Return the number of the shard on which a user lives.
-- Reading recall_proxy.slots locks the table until the end of the transaction. So a change of slots
-- waits for calls that have read it, and later calls see the change.
-- Raises  RC003 no user given; RC007 a transaction whose snapshot may hide a move, or whose calls
--         the client takes for one.
create or replace function recall_proxy.shard_of(
    p_user_id uuid
)
returns integer
language plpgsql
volatile
parallel unsafe
security definer
set search_path to pg_catalog, pg_temp
as $function$
declare
    v_shard integer;
begin
    if p_user_id is null then
        raise exception using
            errcode = 'RC003',
            message = 'p_user_id is null',
            hint    = 'Pass the user''s UUID; recall.user_id(text) derives it from any text.';
    end if;
    if current_setting('transaction_isolation') <> 'read committed' then
        raise exception using
            errcode = 'RC007',
            message = format('a proxy cannot be called at isolation level %s',
                             current_setting('transaction_isolation')),
            hint    = 'Each call is a transaction of its shard. Use read committed.';
    end if;
    if current_setting('recall.in_transaction', true) = 'on' then
        raise exception using
            errcode = 'RC007',
            message = 'a call through a proxy cannot be part of a transaction',
            hint    = 'It commits on its shard at once, and your rollback would not undo it. '
                      'Connect by a DSN or a pool, or set the connection to autocommit.';
    end if;

    select coalesce(m.shard_no, s.shard_no)
      into v_shard
      from recall_proxy.slots as s
      left join recall_proxy.moved_users as m on m.user_id = p_user_id
     where s.slot = recall_proxy.slot_of(p_user_id);
    return v_shard;
end;
$function$;

comment on function recall_proxy.shard_of(uuid) is 'Number of the shard on which a user lives.';

-- Return the settings of the caller that take effect on the shard for one call.
create or replace function recall_proxy.settings()
returns jsonb
language plpgsql
stable
parallel safe
security definer
set search_path to pg_catalog, pg_temp
as $function$
begin
    return jsonb_build_object(
        'version', (select r.version from recall_proxy.release as r),
        'recall.user_id', current_setting('recall.user_id', true),
        'recall.user_key', current_setting('recall.user_key', true),
        'recall.embedding_model', current_setting('recall.embedding_model', true),
        'TimeZone', current_setting('TimeZone'),
        'lock_timeout', current_setting('lock_timeout'),
        'transaction_read_only', nullif(current_setting('transaction_read_only'), 'off'));
end;
$function$;

comment on function recall_proxy.settings() is 'Settings of the caller that go with a call.';

-- List the shards, the first one at random so that calls spread over them.
create or replace function recall_proxy.list_shards()
returns table (
    shard_no integer,
    name     text
)
language plpgsql
volatile
parallel unsafe
security definer
set search_path to pg_catalog, pg_temp
as $function$
#variable_conflict use_column
declare
    v_count constant integer := (select count(*) from recall_proxy.shards as s);
    v_first constant integer := floor(random() * v_count);
begin
    if current_setting('recall.in_transaction', true) = 'on' then
        raise exception using
            errcode = 'RC007',
            message = 'a call through a proxy cannot be part of a transaction',
            hint    = 'It commits on its shard at once, and your rollback would not undo it. '
                      'Connect by a DSN or a pool, or set the connection to autocommit.';
    end if;
    return query
    select s.shard_no, s.name
      from recall_proxy.shards as s
     order by (s.shard_no - v_first + v_count) % v_count;
end;
$function$;

comment on function recall_proxy.list_shards() is 'The shards, from a random one on.';

-- Call nothing on a shard, to see whether it answers.
create or replace function recall_proxy.ping(integer)
returns integer
language plproxy
as $function$
    cluster 'recall';
    run on $1;
    select 1 as answer;
$function$;

comment on function recall_proxy.ping(integer) is 'Answer 1 from a shard.';

-- Raise a cancellation of the call on the proxy itself; one of a shard is an error like others.
-- Raises  57014.
create or replace function recall_proxy.check_canceled(
    p_state   text,
    p_message text
)
returns void
language plpgsql
volatile
parallel safe
set search_path to pg_catalog, pg_temp
as $function$
begin
    if p_state = '57014' and strpos(p_message, '] REMOTE ') = 0 then
        raise exception using errcode = p_state, message = p_message;
    end if;
end;
$function$;

comment on function recall_proxy.check_canceled(text, text) is
    'Raise a cancellation of the call on the proxy itself (57014).';

-- List the shards, and whether they answer.
create or replace function recall_proxy.check_shards()
returns table (
    shard_no integer,
    name     text,
    problem  text
)
language plpgsql
volatile
parallel unsafe
set search_path to pg_catalog, pg_temp
as $function$
begin
    for shard_no, name in select s.shard_no, s.name from recall_proxy.list_shards() as s loop
        problem := null;
        begin
            perform recall_proxy.ping(shard_no);
        exception when others or query_canceled then
            problem := sqlerrm;
            perform recall_proxy.check_canceled(sqlstate, problem);
        end;
        return next;
    end loop;
end;
$function$;

comment on function recall_proxy.check_shards() is 'The shards, with a problem of those that do '
    'not answer.';

-- List the shards that answer, and warn of the others.
create or replace function recall_proxy.reachable_shards()
returns table (
    shard_no integer,
    name     text
)
language plpgsql
volatile
parallel unsafe
set search_path to pg_catalog, pg_temp
as $function$
declare
    v_problem text;
begin
    for shard_no, name, v_problem in
        select s.shard_no, s.name, s.problem from recall_proxy.check_shards() as s
    loop
        if v_problem is null then
            return next;
        else
            raise warning 'shard % cannot be reached', name using detail = v_problem;
        end if;
    end loop;
end;
$function$;

comment on function recall_proxy.reachable_shards() is 'The shards that answer.';

-- Return whether an error says that a shard cannot be reached.
-- PL/Proxy reports its own errors as XX000 with this beginning, those of a shard as REMOTE.
create or replace function recall_proxy.is_unreachable(
    p_state   text,
    p_message text
)
returns boolean
language sql
immutable
parallel safe
return p_state = 'XX000' and starts_with(p_message, 'PL/Proxy function ')
       or p_state in ('57P01', '57P02', '57P03', '08006', '53300')
          and strpos(p_message, '] REMOTE ') > 0;

comment on function recall_proxy.is_unreachable(text, text) is
    'Whether an error says that a shard cannot be reached.';

-- Raise an error as the shard has raised it, or return when the call shall be sent again.
-- It is sent again after a move, when the route has changed. Between the departure from the old
-- shard and the new route there are milliseconds, unless the move was interrupted.
-- Raises  58000 the shard cannot be reached, 57P01 it has ended the connection, 40001 a move is not
--         finished, or the shard's error.
create or replace function recall_proxy.check_error(
    p_shard   integer,
    p_attempt integer,
    p_state   text,
    p_message text,
    p_detail  text,
    p_hint    text
)
returns void
language plpgsql
volatile
parallel unsafe
security definer
set search_path to pg_catalog, pg_temp
as $function$
declare
    v_name constant text := (select s.name from recall_proxy.shards as s
                              where s.shard_no = p_shard);
begin
    if recall_proxy.is_unreachable(p_state, p_message) then
        raise exception using
            -- a shard that is restarted ends connections; clients then repeat what they may
            errcode = case p_state when 'XX000' then '58000' else p_state end,
            message = format('%s cannot be reached', coalesce('shard ' || v_name, 'a shard')),
            detail  = regexp_replace(p_message, '^[^[]*\[[^]]*\] *', ''),
            hint    = 'Users of other shards are served. A write may have been made: '
                      'repeat it with its request id.';
    end if;
    if p_state = 'RCM01' then
        if p_attempt < 100 then
            perform pg_sleep(0.02);
            return;
        end if;
        raise exception using
            errcode = '40001',
            message = 'the user of this call is being moved to another shard',
            hint    = 'Repeat the call. If it stays so: pgrecall shards move, which resumes.';
    end if;
    raise exception using
        errcode = p_state,
        message = regexp_replace(p_message, '^[^[]*\[[^]]*\] REMOTE [A-Z]+: ', ''),
        detail  = regexp_replace(p_detail, '^Remote detail: ', ''),
        hint    = regexp_replace(p_hint, '^Remote hint: ', '');
end;
$function$;

comment on function recall_proxy.check_error(integer, integer, text, text, text, text) is
    'Raise a shard''s error as it was, or return when the call shall be sent again.';

-- Reject an erasure in data of a user whose move is not finished.
-- Both shards may have rows of the user, and an erasure reaches one of them. A move in progress
-- brings smaller erasures to both, so p_may_run accepts it; its process holds the advisory lock.
-- Raises  40001.
create or replace function recall_proxy.check_moves(
    p_user_id uuid,
    p_may_run boolean
)
returns void
language plpgsql
volatile
parallel unsafe
security definer
set search_path to pg_catalog, pg_temp
as $function$
declare
    v_target constant text := (select s.name
                                 from recall_proxy.moves as m
                                 join recall_proxy.shards as s on s.shard_no = m.to_shard
                                where m.user_id = p_user_id);
begin
    if v_target is not null
       and (not p_may_run
            or pg_try_advisory_xact_lock_shared(
                   hashtextextended('recall_proxy.move ' || p_user_id::text, 0)))
    then
        raise exception using
            errcode = '40001',
            message = format('the move of user %s to another shard is not finished', p_user_id),
            hint    = format('Nothing was erased. Repeat the call after the move. An interrupted '
                             'one is finished by: pgrecall shards move %s --to %s', p_user_id,
                             v_target);
    end if;
end;
$function$;

comment on function recall_proxy.check_moves(uuid, boolean) is
    'Reject an erasure in data of a user whose move is not finished (40001).';

-- Add the erasures of all shards to those given.
-- A shard restored from a backup lacks later erasures, of which some were recorded on other shards.
create or replace function recall_proxy.merge_erasures(
    p_erasures jsonb
)
returns jsonb
language plpgsql
volatile
parallel unsafe
set search_path to pg_catalog, pg_temp
as $function$
begin
    if jsonb_typeof(p_erasures) <> 'array' then
        return p_erasures;  -- the shards raise the error
    end if;
    return coalesce(p_erasures, '[]') || (
        select coalesce(jsonb_agg(e), '[]') from recall.list_erasures(null, 2147483647) as e);
end;
$function$;

comment on function recall_proxy.merge_erasures(jsonb) is
    'These erasures, and those of all shards.';

-- Raise an error for a change that some shards have refused.
-- When all shards have given the same answer, that one is raised: the input is wrong.
create or replace function recall_proxy.check_failures(
    p_failures jsonb
)
returns void
language plpgsql
volatile
parallel unsafe
security definer
set search_path to pg_catalog, pg_temp
as $function$
declare
    v_shards  constant integer := (select count(*) from recall_proxy.shards);
    v_failed  constant integer := jsonb_array_length(p_failures);
    v_answers constant integer := (
        select count(distinct (f.item ->> 'state', f.item ->> 'message'))
          from jsonb_array_elements(p_failures) as f (item));
begin
    if v_failed = 0 then
        return;
    end if;
    if v_failed = v_shards and v_answers = 1 then
        raise exception using
            errcode = p_failures #>> '{0,state}',
            message = p_failures #>> '{0,message}',
            detail  = coalesce(p_failures #>> '{0,detail}', ''),
            hint    = coalesce(p_failures #>> '{0,hint}', '');
    end if;
    raise exception using
        errcode = 'RC007',
        message = format('%s of %s shards have not made this change', v_failed, v_shards),
        detail  = (
            select string_agg(format('%s: %s', f.item ->> 'shard', f.item ->> 'message'), '; ')
              from jsonb_array_elements(p_failures) as f (item)),
        hint    = 'The other shards have made it. Repeat the call when the cause is removed.';
end;
$function$;

comment on function recall_proxy.check_failures(jsonb) is
    'Raise an error for a change that some shards have refused.';

-- Define the cluster of PL/Proxy from the table of shards.
-- modular_mapping lets any number of shards take part: the number of a shard is its partition.
-- The mapping for PUBLIC names no user, so PL/Proxy connects as the caller's own role. A mapping
-- for one role may add a password. The timeout on the proxy counts: when a shard cancels a
-- statement by itself, PL/Proxy 2.11 waits forever. Options in a connection replace this one.
create or replace function recall_proxy.define_cluster()
returns void
language plpgsql
volatile
parallel unsafe
set search_path to pg_catalog, pg_temp
as $function$
declare
    v_options text;
begin
    if not exists (select from pg_catalog.pg_foreign_server as s where s.srvname = 'recall') then
        execute format('create server recall foreign data wrapper plproxy '
                       'options (modular_mapping ''1'', p0 %L)', (
            select s.connection from recall_proxy.shards as s where s.shard_no = 0));
        create user mapping for public server recall;
    end if;
    select string_agg(
               format('%s p%s %L',
                      case when exists (
                          select from pg_catalog.pg_foreign_server as f,
                                      pg_catalog.pg_options_to_table(f.srvoptions) as o
                           where f.srvname = 'recall'
                             and o.option_name = 'p' || s.shard_no) then 'set' else 'add' end,
                      s.shard_no,
                      s.connection || case when s.connection ~ '\moptions\s*=' then ''
                                           else ' options=''-c statement_timeout=0''' end),
               ', ' order by s.shard_no)
      into v_options
      from recall_proxy.shards as s;
    execute format('alter server recall options (%s)', v_options);
end;
$function$;

comment on function recall_proxy.define_cluster() is
    'Define the cluster of PL/Proxy from the table of shards.';

-- Add a shard; return its number. Adding one again changes its connection only.
-- The first shards share the slots. A later one gets none, so no user moves by itself.
-- Raises  RC003 a connection with a user or password.
create or replace function recall_proxy.add_shard(
    p_name       text,
    p_connection text
)
returns integer
language plpgsql
volatile
parallel unsafe
set search_path to pg_catalog, pg_temp
as $function$
declare
    v_shard integer;
begin
    if p_connection ~* '\m(user|password)\s*=' then
        raise exception using
            errcode = 'RC003',
            message = format('the connection of shard %s names a user or a password', p_name),
            hint    = 'Callers connect as their own role. A password belongs into a user mapping '
                      'of that role: alter user mapping … options (add password …).';
    end if;
    insert into recall_proxy.shards as s (shard_no, name, connection)
    values ((select count(*) from recall_proxy.shards), p_name, p_connection)
    on conflict (name) do update set connection = excluded.connection
    returning s.shard_no into v_shard;
    perform recall_proxy.define_cluster();
    return v_shard;
end;
$function$;

comment on function recall_proxy.add_shard(text, text) is
    'Add a shard, or change its connection; its number.';

-- Share the slots among all shards, once: later calls change nothing.
create or replace function recall_proxy.share_slots()
returns void
language sql
volatile
parallel unsafe
begin atomic
    insert into recall_proxy.slots (slot, shard_no)
    select n.n, n.n % (select count(*) from recall_proxy.shards)::integer
      from pg_catalog.generate_series(0, 1023) as n (n)
     where not exists (select 1 from recall_proxy.slots);
end;

comment on function recall_proxy.share_slots() is 'Share the slots among the first shards.';

-- Ask a shard for its users in these slots.
create or replace function recall_proxy.users_in_slots(integer, integer[])
returns setof uuid
language plproxy
as $function$
    cluster 'recall';
    run on $1;
    select u.user_id from recall_shard.users_in_slots($2) as u (user_id);
$function$;

comment on function recall_proxy.users_in_slots(integer, integer[]) is
    'Users of a shard in these slots.';

-- List the users who have rows on a shard although calls for them go to another one.
-- Users of an unfinished move are left out. The shard computes the slots of all its users. It sends
-- those in slots of other shards, and those who share a slot with an exception.
create or replace function recall_proxy.list_strays(
    p_shard integer
)
returns setof uuid
language sql
volatile
parallel unsafe
begin atomic
    select u.user_id
      from recall_proxy.users_in_slots(
               p_shard, array(
                   select a.slot
                     from recall_proxy.slots as a
                    where a.shard_no <> p_shard
                       or a.slot in (select recall_proxy.slot_of(e.user_id)
                                       from recall_proxy.moved_users as e
                                      where e.shard_no <> p_shard))) as u (user_id)
      join recall_proxy.slots as s on s.slot = recall_proxy.slot_of(u.user_id)
      left join recall_proxy.moved_users as m on m.user_id = u.user_id
     where coalesce(m.shard_no, s.shard_no) <> p_shard
       and not exists (select from recall_proxy.moves as v where v.user_id = u.user_id)
     order by u.user_id;
end;

comment on function recall_proxy.list_strays(integer) is
    'Users with rows on a shard who live on another one.';

-- Give slots to a shard, so that new users come to it; no user moves.
-- The present users of these slots become exceptions on the shard where they live. A user whose
-- move is not finished may have left that shard, and stays an exception there until the new route.
-- The slots are taken from the shards that have most. Calls wait meanwhile: it reads the ids of all
-- their users. Calls queue behind a waiting lock, so each wait is short and repeated.
-- Raises  RC001 no such shard; RC003 more slots than there are; 55P03 calls never stop.
create or replace function recall_proxy.assign_slots(
    p_name  text,
    p_count integer
)
returns integer
language plpgsql
volatile
parallel unsafe
set search_path to pg_catalog, pg_temp
set lock_timeout to '1s'
as $function$
declare
    v_tries constant integer := 60;
    v_to    integer := (select s.shard_no from recall_proxy.shards as s where s.name = p_name);
    v_slots integer[];
    v_from  integer;
begin
    if v_to is null then
        raise exception using
            errcode = 'RC001',
            message = format('there is no shard %s', p_name),
            hint    = 'pgrecall shards status lists them.';
    end if;
    if p_count is null or p_count not between 0 and 1024 then
        raise exception using
            errcode = 'RC003',
            message = format('p_count is %s', coalesce(p_count::text, 'null')),
            hint    = 'Pass 0 to 1024.';
    end if;
    for v_try in 1 .. v_tries loop
        begin
            lock table recall_proxy.slots in access exclusive mode;
            exit;
        exception when lock_not_available then
            if v_try = v_tries then
                raise exception using
                    errcode = '55P03',
                    message = 'the slots are in use by transactions that do not end',
                    hint    = 'pg_stat_activity on the proxy shows them. No slot was given.';
            end if;
        end;
        perform pg_sleep(0.2);
    end loop;

    v_slots := array(
        select t.slot
          from (select s.slot, row_number() over (partition by s.shard_no order by s.slot)
                       - count(*) over (partition by s.shard_no) as place
                  from recall_proxy.slots as s
                 where s.shard_no <> v_to) as t
         order by t.place, t.slot
         limit p_count);
    insert into recall_proxy.moved_users (user_id, shard_no)
    select m.user_id, m.from_shard
      from recall_proxy.moves as m
     where m.state = 'copying'
       and recall_proxy.slot_of(m.user_id) = any (v_slots)
    on conflict (user_id) do nothing;
    for v_from in
        select distinct s.shard_no from recall_proxy.slots as s where s.slot = any (v_slots)
    loop
        insert into recall_proxy.moved_users (user_id, shard_no)
        select u.user_id, v_from
          from recall_proxy.users_in_slots(v_from, array(
                   select s.slot from recall_proxy.slots as s
                    where s.shard_no = v_from and s.slot = any (v_slots))) as u (user_id)
        on conflict (user_id) do nothing;
    end loop;
    update recall_proxy.slots as s set shard_no = v_to where s.slot = any (v_slots);
    delete from recall_proxy.moved_users as m
     using recall_proxy.slots as s
     where s.slot = recall_proxy.slot_of(m.user_id)
       and s.shard_no = m.shard_no;
    return cardinality(v_slots);
end;
$function$;

comment on function recall_proxy.assign_slots(text, integer) is
    'Give slots to a shard for new users; how many it has got.';

-- Record that a user lives on another shard from now on.
create or replace function recall_proxy.route_user(
    p_user_id uuid,
    p_shard   integer
)
returns void
language plpgsql
volatile
parallel unsafe
set search_path to pg_catalog, pg_temp
as $function$
begin
    delete from recall_proxy.moved_users as m where m.user_id = p_user_id;
    insert into recall_proxy.moved_users (user_id, shard_no)
    select p_user_id, p_shard
      from recall_proxy.slots as s
     where s.slot = recall_proxy.slot_of(p_user_id)
       and s.shard_no <> p_shard;
end;
$function$;

comment on function recall_proxy.route_user(uuid, integer) is 'Record where a user lives.';

-- Describe a shard: its release, its users, and digests of what all shards must have in common.
create or replace function recall_proxy.state_of(integer)
returns table (version text, users bigint, digests jsonb)
language plproxy
as $function$
    cluster 'recall';
    run on $1;
    select s.version, s.users, s.digests from recall_shard.state() as s;
$function$;

comment on function recall_proxy.state_of(integer) is 'Release, users and digests of a shard.';

-- List the shards, with what an administrator must do something about.
create or replace function recall_proxy.status()
returns table (
    shard_no   integer,
    name       text,
    connection text,
    slots      bigint,
    exceptions bigint,
    version    text,
    users      bigint,
    digests    jsonb,
    problems   text[]
)
language plpgsql
volatile
parallel unsafe
set search_path to pg_catalog, pg_temp
as $function$
#variable_conflict use_column
declare
    v_release constant text := (select r.version from recall_proxy.release as r);
    v_first   text;
    v_common  jsonb;
    v_strays  uuid[];
    v_differ  text;
begin
    for shard_no, name, connection, slots, exceptions in
        select s.shard_no, s.name, s.connection,
               (select count(*) from recall_proxy.slots as l where l.shard_no = s.shard_no),
               (select count(*) from recall_proxy.moved_users as m where m.shard_no = s.shard_no)
          from recall_proxy.shards as s
         order by s.shard_no
    loop
        version := null;
        users := null;
        digests := null;
        problems := '{}';
        begin
            select t.version, t.users, t.digests
              into version, users, digests
              from recall_proxy.state_of(shard_no) as t;
            v_strays := array(select t.t from recall_proxy.list_strays(shard_no) as t (t));
        exception when others or query_canceled then
            perform recall_proxy.check_canceled(sqlstate, sqlerrm);
            problems := array[format('cannot be reached: %s', regexp_replace(
                sqlerrm, '^[^[]*\[[^]]*\] *(REMOTE [A-Z]+: )?', ''))];
            return next;
            continue;
        end;
        if cardinality(v_strays) > 0 then
            problems := problems || format(
                'has rows of %s users who live elsewhere, such as %s: was it restored from a '
                'backup?', cardinality(v_strays), v_strays[1]);
        end if;
        if version <> v_release then
            problems := problems || format(
                'is of release %s, the proxy of %s: calls are refused until all shards are '
                'upgraded and pgrecall shards init has run', version, v_release);
        end if;
        if v_first is null then
            v_first := name;
            v_common := digests;
        else
            select string_agg(d.key, ', ' order by d.key)
              into v_differ
              from jsonb_each_text(digests) as d
             where d.value is distinct from v_common ->> d.key;
            if v_differ is not null then
                problems := problems || format('%s differ from shard %s', v_differ, v_first);
            end if;
        end if;
        return next;
    end loop;
end;
$function$;

comment on function recall_proxy.status() is
    'The shards, with what an administrator must do something about.';

-- Return the one value of a statement on a connection of dblink.
create or replace function recall_proxy.ask(
    p_name      text,
    p_statement text
)
returns text
language plpgsql
volatile
parallel unsafe
set search_path to pg_catalog, pg_temp
as $function$
begin
    return (select a.answer from recall_proxy.dblink(p_name, p_statement) as a (answer text));
end;
$function$;

comment on function recall_proxy.ask(text, text) is 'The one value of a statement on a shard.';

-- End a connection of dblink, if there is one; its transaction is rolled back.
create or replace function recall_proxy.disconnect_shard(
    p_name text
)
returns void
language plpgsql
volatile
parallel unsafe
set search_path to pg_catalog, pg_temp
as $function$
begin
    if p_name = any (recall_proxy.dblink_get_connections()) then
        perform recall_proxy.dblink_disconnect(p_name);
    end if;
end;
$function$;

comment on function recall_proxy.disconnect_shard(text) is 'End a connection of dblink.';

-- Connect to a shard by dblink, as the current user, and act as the owner of the schema there.
-- The user mapping of PL/Proxy gives the password, if it has one.
-- Raises  58000 the shard cannot be reached.
create or replace function recall_proxy.connect_shard(
    p_name  text,
    p_shard integer
)
returns void
language plpgsql
volatile
parallel unsafe
set search_path to pg_catalog, pg_temp
as $function$
declare
    v_name   text;
    v_login  text;
    v_detail text;
begin
    perform recall_proxy.disconnect_shard(p_name);
    select s.name, s.connection into v_name, v_login
      from recall_proxy.shards as s
     where s.shard_no = p_shard;
    select v_login || string_agg(format(' %s=''%s''', o.name,
                                        regexp_replace(o.value, '([\\''])', '\\\1', 'g')), '')
      into v_login
      from (
            -- the last value of a key counts
            select 1 as place, 'user' as name, current_user::text as value
            union all
            select 2, m.option_name, m.option_value
              from pg_catalog.pg_user_mappings as u
             cross join lateral pg_options_to_table(u.umoptions) as m
             where u.srvname = 'recall'
               and u.usename = current_user
             order by 1
           ) as o;
    begin
        perform recall_proxy.dblink_connect(p_name, v_login);
    exception when sqlclient_unable_to_establish_sqlconnection then
        get stacked diagnostics v_detail = pg_exception_detail;
        raise exception using
            errcode = '58000',
            message = format('shard %s cannot be reached', v_name),
            detail  = v_detail,
            hint    = 'The proxy''s server connects as the role that moves users. Its password '
                      'belongs into a user mapping: create user mapping for … server recall.';
    end;
    -- the source deletes what the target has committed, so that must not get lost
    perform recall_proxy.dblink_exec(
        p_name, 'set statement_timeout = 0; set lock_timeout = 0; set synchronous_commit = on; '
                'set transaction_timeout = 0; '
                'set idle_in_transaction_session_timeout = 0; set client_min_messages = warning; '
                'set default_transaction_isolation = ''read committed''; '
                'set default_transaction_read_only = off');
    perform recall_proxy.dblink_exec(p_name, format('set role %I', recall_proxy.ask(
        p_name, 'select pg_get_userbyid(n.nspowner) from pg_namespace as n '
                'where n.nspname = ''recall_shard''')));
end;
$function$;

comment on function recall_proxy.connect_shard(text, integer) is
    'Connect to a shard by dblink, as the owner of its schema.';

-- Send the rows of the source's cursor to a function of the target; p_call has %L for them.
create or replace function recall_proxy.send_rows(
    p_call text
)
returns bigint
language plpgsql
volatile
parallel unsafe
set search_path to pg_catalog, pg_temp
as $function$
declare
    v_rows  text;
    v_count bigint := 0;
begin
    loop
        v_rows := recall_proxy.ask('recall_source', 'select recall_shard.read_rows()');
        exit when v_rows is null;
        v_count := v_count + coalesce(nullif(recall_proxy.ask(
            'recall_target', format(p_call, v_rows)), ''), '0')::bigint;
    end loop;
    return v_count;
end;
$function$;

comment on function recall_proxy.send_rows(text) is 'Send the rows of the source''s cursor.';

-- Send the rows of a table that were written since a transaction of the source.
-- p_count is how many rows the target has; the new number is returned. Keys are sent only when the
-- numbers show that rows were deleted. They go before the new rows: a changed row may have the
-- value of a deleted one that a unique index allows once.
-- Raises  RC007 the numbers differ in the end.
create or replace function recall_proxy.send_changes(
    p_user_id uuid,
    p_table   text,
    p_columns text[],
    p_keys    text[],
    p_since   text,
    p_count   bigint
)
returns bigint
language plpgsql
volatile
parallel unsafe
set search_path to pg_catalog, pg_temp
as $function$
declare
    v_open  constant text    := 'select %s from recall_shard.open_rows(%L, %L, %L, %L) as o';
    v_stage constant text    := 'select recall_shard.stage_rows(%L, %%L)';
    v_drop  constant text    := 'select recall_shard.drop_rows(%L, %L, %L, %L)';
    v_found constant bigint[] := recall_proxy.ask('recall_source', format(
        v_open, 'array[o.o_rows, o.o_found]', p_user_id, p_table, p_columns, p_since));
    v_here  bigint            := p_count;
begin
    if v_found[1] = p_count and v_found[2] = 0 then
        return p_count;
    end if;
    if cardinality(p_keys) = 0 then
        -- rows without a key cannot be compared, so all are sent again
        perform recall_proxy.ask('recall_source', format(
            v_open, '1', p_user_id, p_table, p_columns, null));
        v_here := v_here
                  - recall_proxy.ask('recall_target', format(v_drop, p_user_id, p_table, null,
                                                             p_keys))::bigint
                  + recall_proxy.send_rows(format('select recall_shard.add_rows(%L, %L, %%L)',
                                                  p_table, p_columns));
    else
        perform recall_proxy.ask('recall_target', 'select recall_shard.stage_rows(false, ''[]'')');
        if v_found[2] > 0 then
            perform recall_proxy.send_rows(format(v_stage, false));
            v_here := v_here - recall_proxy.ask('recall_target', format(
                v_drop, p_user_id, p_table, p_columns, p_keys))::bigint;
        end if;
        if v_here + v_found[2] <> v_found[1] then
            perform recall_proxy.ask('recall_source', format(
                v_open, '1', p_user_id, p_table, p_keys, null));
            perform recall_proxy.send_rows(format(v_stage, true));
            v_here := v_here - recall_proxy.ask('recall_target', format(
                v_drop, p_user_id, p_table, null, p_keys))::bigint;
        end if;
        if v_found[2] > 0 then
            v_here := v_here + recall_proxy.ask('recall_target', format(
                'select recall_shard.add_rows(%L, %L, null)', p_table, p_columns))::bigint;
        end if;
    end if;
    if v_here <> v_found[1] then
        raise exception using
            errcode = 'RC007',
            message = format('%s: %s rows on the source, %s on the target', p_table, v_found[1],
                             v_here),
            hint    = 'A sweep deleted rows meanwhile, or something writes to the shards past the '
                      'proxy. Nothing was moved: repeat the move.';
    end if;
    return v_here;
end;
$function$;

comment on function recall_proxy.send_changes(uuid, text, text[], text[], text, bigint) is
    'Send the rows of a table that were written since a transaction of the source.';

-- List the tables that a move copies, as the source describes them.
create or replace function recall_proxy.user_tables()
returns table (
    name    text,
    columns text[],
    keys    text[]
)
language plpgsql
volatile
parallel unsafe
set search_path to pg_catalog, pg_temp
as $function$
begin
    return query
    select t.name, t.columns, t.keys
      from recall_proxy.dblink('recall_source', 'select * from recall_shard.user_tables()')
           as t (name text, columns text[], keys text[]);
end;
$function$;

comment on function recall_proxy.user_tables() is 'Tables that a move copies.';

-- Be the only move of a user until the transaction ends.
-- With an attempt, the move must not have ended or been continued since that one began.
-- Raises  RC007 another process moves the user, or has done so.
drop function if exists recall_proxy.lock_move(uuid);
create or replace function recall_proxy.lock_move(
    p_user_id uuid,
    p_attempt integer default null
)
returns void
language plpgsql
volatile
parallel unsafe
set search_path to pg_catalog, pg_temp
as $function$
begin
    if not pg_try_advisory_xact_lock(
               hashtextextended('recall_proxy.move ' || p_user_id::text, 0)) then
        raise exception using
            errcode = 'RC007',
            message = format('another process moves user %s', p_user_id),
            hint    = 'Wait until it has finished.';
    end if;
    if p_attempt is not null and not exists (
        select from recall_proxy.moves as m
         where m.user_id = p_user_id
           and m.attempts = p_attempt
    ) then
        raise exception using
            errcode = 'RC007',
            message = format('another process has continued the move of user %s', p_user_id),
            hint    = 'The table recall_proxy.moves shows whether the move is finished.';
    end if;
end;
$function$;

comment on function recall_proxy.lock_move(uuid, integer) is 'Be the only move of a user.';

-- Raise when a shard cannot give or take a user now.
-- Raises  RC007.
create or replace function recall_proxy.check_shards_of_move()
returns void
language plpgsql
volatile
parallel unsafe
set search_path to pg_catalog, pg_temp
as $function$
declare
    v_check constant text := format('select recall_shard.check_move(%L)', (
                                 select r.version from recall_proxy.release as r));
begin
    perform recall_proxy.ask('recall_source', v_check);
    perform recall_proxy.ask('recall_target', v_check);
end;
$function$;

comment on function recall_proxy.check_shards_of_move() is
    'Raise when a shard cannot give or take a user now (RC007).';

-- Record a move, or find the interrupted one; no move is recorded that cannot begin.
-- o_state is NULL when the user lives on the shard already.
-- A proxy that failed over to an older standby may have lost the route of a user who has moved.
-- Only the move to the shard that has the user may begin then.
-- Raises  RC001 no such shard; RC003 no user given; RC007 another move of the user runs or is not
--         finished, a shard is not ready for it, or the user lives elsewhere; 58000 a shard cannot
--         be reached.
drop function if exists recall_proxy.begin_move(uuid, text);
create function recall_proxy.begin_move(
    p_user_id         uuid,
    p_shard           text,
    out o_source      integer,
    out o_target      integer,
    out o_state       text,
    out o_was_resumed boolean,
    out o_attempt     integer
)
language plpgsql
volatile
parallel unsafe
set search_path to pg_catalog, pg_temp
as $function$
declare
    v_wanted constant integer := (select s.shard_no from recall_proxy.shards as s
                                   where s.name = p_shard);
    v_find   constant text    := format('select recall_shard.find_user(%L)', p_user_id);
begin
    if v_wanted is null then
        raise exception using
            errcode = 'RC001',
            message = format('there is no shard %s', coalesce(p_shard, 'null')),
            hint    = 'pgrecall shards status and recall_proxy.status() list the shards.';
    end if;
    perform recall_proxy.lock_move(p_user_id);
    update recall_proxy.moves as m set attempts = m.attempts + 1
     where m.user_id = p_user_id
    returning m.from_shard, m.to_shard, m.state, true, m.attempts
         into o_source, o_target, o_state, o_was_resumed, o_attempt;
    if found and o_target <> v_wanted then
        raise exception using
            errcode = 'RC007',
            message = format('a move of this user to %s is not finished', (
                          select s.name from recall_proxy.shards as s
                           where s.shard_no = o_target)),
            hint    = 'Finish that move first, by the same call with that shard, or end it by '
                      'recall_proxy.abandon_move(user_id).';
    elsif not found then
        o_source := recall_proxy.shard_of(p_user_id);
        o_target := v_wanted;
        o_was_resumed := false;
        if o_source = o_target then
            return;
        end if;
        o_state := 'copying';
        insert into recall_proxy.moves as m (user_id, from_shard, to_shard)
        values (p_user_id, o_source, o_target)
        returning m.attempts into o_attempt;
    end if;
    perform recall_proxy.connect_shard('recall_source', o_source);
    if o_state = 'copying' then
        perform recall_proxy.connect_shard('recall_target', o_target);
        perform recall_proxy.check_shards_of_move();
        if not o_was_resumed
           and recall_proxy.ask('recall_source', v_find) = 'departed'
           and recall_proxy.ask('recall_target', v_find) <> 'here'
        then
            raise exception using
                errcode = 'RC007',
                message = format('user %s has left shard %s, and is not on shard %s', p_user_id, (
                              select s.name from recall_proxy.shards as s
                               where s.shard_no = o_source), p_shard),
                hint    = 'The proxy has lost a route. recall_proxy.list_strays(shard_no) finds '
                          'the shard that has the user: move the user to that one.';
        end if;
    end if;
end;
$function$;

comment on function recall_proxy.begin_move(uuid, text) is
    'Record a move, or find the interrupted one.';

-- Copy all rows of a user, and have the source refuse the user; return the copied rows by table.
-- The receiving transaction commits once, at the end: no sweep there sees a part of a user. Three
-- passes send all rows, then the changes meanwhile, then the last changes while calls wait. So the
-- wait grows with reading the user's rows, not with sending them. NULL means that the user was
-- erased on the source before an interrupted move was finished; the copy is deleted then.
create or replace function recall_proxy.copy_user(
    p_user_id        uuid,
    p_was_resumed    boolean,
    out o_rows       jsonb,
    out o_held_since timestamptz
)
language plpgsql
volatile
parallel unsafe
set search_path to pg_catalog, pg_temp
as $function$
declare
    v_xid      constant text   := 'select pg_snapshot_xmin(pg_current_snapshot())::xid';
    v_open     constant text   := 'select 1 from recall_shard.open_rows(%L, %L, %L, null)';
    v_add      constant text   := 'select recall_shard.add_rows(%L, %L, %%L)';
    v_awaits   constant text   := 'select recall_shard.awaits_walk(%L)';
    v_prompts  constant text[] := '{prompt_hash, content, token_count, created_at,
                                      prompt_id}';
    v_where    text;
    v_position jsonb;
    v_table    record;
    v_name     text;
    v_since    text;
    v_next     text;
begin
    o_held_since := clock_timestamp();
    o_rows := '{}';
    perform recall_proxy.dblink_exec('recall_source', 'begin');
    v_where := recall_proxy.ask('recall_source', format(
        'select recall_shard.find_user(%L)', p_user_id));
    if p_was_resumed and v_where <> 'departed' then
        -- the user cannot depart before this transaction of the source ends
        perform recall_proxy.ask('recall_target', format(
            'select recall_shard.remove_copy(%L)', p_user_id));
    end if;
    perform recall_proxy.dblink_exec('recall_source', 'commit');
    if v_where = 'departed' then
        return;  -- the target has committed
    end if;
    if p_was_resumed and v_where = 'gone' then
        o_rows := null;
        return;
    end if;

    loop
        v_position := recall_proxy.ask('recall_source', format(
            'select recall_shard.finish_backfills(%L, %L)', p_user_id, v_position));
        exit when v_position is null;
    end loop;
    if recall_proxy.ask('recall_source', format(v_awaits, p_user_id))::boolean
       and not recall_proxy.ask('recall_target', format(v_awaits, p_user_id))::boolean
    then
        perform recall_proxy.ask('recall_source', format(
            'select recall._enqueue_embeddings(%L, clock_timestamp(), true)', p_user_id));
    end if;
    perform recall_proxy.ask('recall_target', format(
        'select recall_shard.ensure_months(%L, %L)', p_user_id, recall_proxy.ask(
            'recall_source', format(
                'select coalesce(json_agg(m), ''[]'') from recall_shard.user_months(%L) as m',
                p_user_id))));
    v_since := recall_proxy.ask('recall_source', v_xid);
    perform recall_proxy.dblink_exec('recall_target', 'begin');
    perform recall_proxy.ask('recall_target', format(
        'select recall_shard.receive_user(%L)', p_user_id));
    perform recall_proxy.dblink_exec('recall_source', 'begin');
    for v_table in select t.name, t.columns from recall_proxy.user_tables() as t loop
        raise notice 'copying %', v_table.name;
        perform recall_proxy.ask('recall_source', format(
            v_open, p_user_id, v_table.name, v_table.columns));
        o_rows := o_rows || jsonb_build_object(
            substr(v_table.name, 8),
            recall_proxy.send_rows(format(v_add, v_table.name, v_table.columns)));
    end loop;
    perform recall_proxy.dblink_exec('recall_source', 'commit');

    for v_pass in 2 .. 3 loop
        raise notice '%', case v_pass when 2 then 'copying what has changed'
                                      else 'copying the last changes while calls wait' end;
        v_next := recall_proxy.ask('recall_source', v_xid);
        if v_pass = 2 then
            -- counts and rows of one snapshot, because calls go on
            perform recall_proxy.dblink_exec('recall_source',
                                             'begin isolation level repeatable read');
        else
            perform recall_proxy.dblink_exec('recall_source', 'begin');
            o_held_since := clock_timestamp() - recall_proxy.ask('recall_source', format(
                'select recall_shard.hold_user(%L)', p_user_id))::interval;
            perform recall_proxy.check_shards_of_move();
        end if;
        for v_table in select t.name, t.columns, t.keys from recall_proxy.user_tables() as t loop
            v_name := substr(v_table.name, 8);
            o_rows := o_rows || jsonb_build_object(v_name, recall_proxy.send_changes(
                p_user_id, v_table.name, v_table.columns, v_table.keys, v_since,
                (o_rows ->> v_name)::bigint));
        end loop;
        if v_pass = 2 then
            perform recall_proxy.dblink_exec('recall_source', 'commit');
        end if;
        v_since := v_next;
    end loop;
    perform recall_proxy.ask('recall_source', format(
        v_open, p_user_id, 'recall.system_prompts', v_prompts));
    perform recall_proxy.send_rows(format(v_add, 'recall.system_prompts', v_prompts));
    perform recall_proxy.dblink_exec('recall_target', 'commit');
    -- both shards have all rows now; the source refuses the user by this commit
    perform recall_proxy.ask('recall_source', format('select recall_shard.depart(%L)', p_user_id));
    perform recall_proxy.dblink_exec('recall_source', 'commit');
end;
$function$;

comment on function recall_proxy.copy_user(uuid, boolean) is
    'Copy all rows of a user, and have the source refuse the user.';

-- Delete what a moved user has left on the source, and end the move.
drop function if exists recall_proxy.finish_move(uuid);
create or replace function recall_proxy.finish_move(
    p_user_id uuid,
    p_attempt integer
)
returns void
language plpgsql
volatile
parallel unsafe
set search_path to pg_catalog, pg_temp
as $function$
begin
    perform recall_proxy.lock_move(p_user_id, p_attempt);
    raise notice 'deleting the rows on the source';
    perform recall_proxy.ask('recall_source', format(
        'select recall_shard.remove_departed(%L)', p_user_id));
    perform recall_proxy.disconnect_shard('recall_source');
    delete from recall_proxy.moves as m where m.user_id = p_user_id;
end;
$function$;

comment on function recall_proxy.finish_move(uuid, integer) is
    'Delete what a moved user has left on the source, and end the move.';

-- End an interrupted move without moving the user, who stays on the source.
-- The copy on the target is deleted, unless the target is away: then a warning names the shard.
-- Raises  RC001 no move that can be abandoned; RC003 no user given; RC007 another process moves the
--         user, or the user has left the source; 58000 the source cannot be reached.
create or replace function recall_proxy.abandon_move(
    p_user_id uuid
)
returns void
language plpgsql
volatile
parallel unsafe
set search_path to pg_catalog, pg_temp
as $function$
declare
    v_move record;
begin
    if p_user_id is null then
        raise exception using
            errcode = 'RC003',
            message = 'p_user_id is null',
            hint    = 'Pass the user''s UUID; the table recall_proxy.moves has it.';
    end if;
    perform recall_proxy.lock_move(p_user_id);
    select m.from_shard, m.to_shard, t.name
      into v_move
      from recall_proxy.moves as m
      join recall_proxy.shards as t on t.shard_no = m.to_shard
     where m.user_id = p_user_id
       and m.state = 'copying';
    if not found then
        raise exception using
            errcode = 'RC001',
            message = format('user %s has no move that can be abandoned', p_user_id),
            hint    = 'The table recall_proxy.moves lists unfinished moves. When the user has '
                      'arrived, the call that began the move finishes it.';
    end if;
    perform recall_proxy.connect_shard('recall_source', v_move.from_shard);
    perform recall_proxy.dblink_exec('recall_source', 'begin');
    if recall_proxy.ask('recall_source', format(
           'select recall_shard.find_user(%L)', p_user_id)) = 'departed'
    then
        perform recall_proxy.disconnect_shard('recall_source');
        raise exception using
            errcode = 'RC007',
            message = format('user %s has left the source already', p_user_id),
            hint    = format('Finish the move: pgrecall shards move %s --to %s', p_user_id,
                             v_move.name);
    end if;
    begin
        perform recall_proxy.connect_shard('recall_target', v_move.to_shard);
        perform recall_proxy.ask('recall_target', format(
            'select recall_shard.remove_copy(%L)', p_user_id));
        perform recall_proxy.disconnect_shard('recall_target');
    exception when system_error then  -- 58000
        raise warning 'shard % cannot be reached, and may keep a copy of user %', v_move.name,
                      p_user_id
            using hint = format('When it is back, recall_proxy.list_strays(%s) shows the copy. '
                                'Delete it there by recall_shard.depart and remove_departed.',
                                v_move.to_shard);
    end;
    perform recall_proxy.disconnect_shard('recall_source');
    delete from recall_proxy.moves as m where m.user_id = p_user_id;
end;
$function$;

comment on function recall_proxy.abandon_move(uuid) is
    'End an interrupted move; the user stays on the source.';

-- Move a user to another shard; an interrupted move continues. Call it outside a transaction.
-- The target commits first, then the source refuses the user, then the proxy knows the new shard.
-- So at each moment one shard accepts writes, or none does. p_outcome tells rows and seconds.
-- Raises  as begin_move; RC001 no such user, or erased before an interrupted move was finished.
create or replace procedure recall_proxy.move_user(
    p_user_id       uuid,
    p_shard         text,
    inout p_outcome jsonb default null
)
language plpgsql
as $procedure$
declare
    v_began      constant timestamptz := clock_timestamp();
    v_move       record;
    v_rows       jsonb;
    v_held_since timestamptz;
    v_held       interval := '0';
    v_gone       boolean  := false;
    v_state      text;
    v_message    text;
    v_detail     text;
    v_hint       text;
begin
    v_move := recall_proxy.begin_move(p_user_id, p_shard);
    commit;
    if v_move.o_state = 'copying' then
        -- taken outside the block, whose end after an error would release the lock
        perform recall_proxy.lock_move(p_user_id, v_move.o_attempt);
        begin
            select c.o_rows, c.o_held_since
              into v_rows, v_held_since
              from recall_proxy.copy_user(p_user_id, v_move.o_was_resumed) as c;
        exception when others or query_canceled then
            get stacked diagnostics
                v_state = returned_sqlstate, v_message = message_text,
                v_detail = pg_exception_detail, v_hint = pg_exception_hint;
        end;
        perform recall_proxy.disconnect_shard('recall_target');
        if v_state is null and v_rows is null then
            v_gone    := true;
            v_state   := 'RC001';
            v_message := format('user %s was erased before the move was finished', p_user_id);
            v_hint    := 'The copy on the other shard is deleted, and the move has ended.';
        end if;
        if v_state is not null then
            -- the end of the connections rolls back there, and calls that waited go on
            perform recall_proxy.disconnect_shard('recall_source');
            -- in the first try these errors come before the target has committed
            delete from recall_proxy.moves as m
             where m.user_id = p_user_id
               and (v_gone or v_state in ('RC001', 'RC007') and not v_move.o_was_resumed);
            commit;
            raise exception using
                errcode = v_state, message = v_message, detail = coalesce(v_detail, ''),
                hint = coalesce(v_hint, '');
        end if;
        perform recall_proxy.route_user(p_user_id, v_move.o_target);
        update recall_proxy.moves as m set state = 'arrived' where m.user_id = p_user_id;
        commit;
        v_held := clock_timestamp() - v_held_since;
    end if;
    if v_move.o_state is not null then
        perform recall_proxy.finish_move(p_user_id, v_move.o_attempt);
        commit;
    end if;
    p_outcome := jsonb_build_object(
        'source', (select s.name from recall_proxy.shards as s where s.shard_no = v_move.o_source),
        'target', p_shard,
        'rows', coalesce(v_rows, '{}'),
        'seconds', extract(epoch from clock_timestamp() - v_began),
        'held_seconds', extract(epoch from v_held),
        'was_resumed', v_move.o_was_resumed);
end;
$procedure$;

comment on procedure recall_proxy.move_user(uuid, text, jsonb) is
    'Move a user to another shard; an interrupted move continues.';

-- Let only superusers change user mappings. The proxy's server may know passwords of other roles.
-- So a role that names another one in its own mapping would become that role on the shards.
create or replace function recall_proxy.check_user_mapping()
returns event_trigger
language plpgsql
set search_path to pg_catalog, pg_temp
as $function$
begin
    if not (select r.rolsuper from pg_catalog.pg_roles as r where r.rolname = current_user) then
        raise exception using
            errcode = '42501',
            message = format('permission denied: %s', lower(tg_tag)),
            hint    = 'Only a superuser changes user mappings on a proxy.';
    end if;
end;
$function$;

comment on function recall_proxy.check_user_mapping() is
    'Let only superusers change user mappings.';

drop event trigger if exists recall_proxy_user_mapping;
create event trigger recall_proxy_user_mapping on ddl_command_start
    when tag in ('CREATE USER MAPPING', 'ALTER USER MAPPING', 'DROP USER MAPPING')
    execute function recall_proxy.check_user_mapping();

-- Nobody but the owner uses the functions of administration.
revoke all on all routines in schema recall_proxy from public;
