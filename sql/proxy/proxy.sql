-- Prepare a database as the proxy before the shards; repeatable.
-- The schema recall_proxy knows the shards, and finds the shard of a user. `generate.sql` then
-- makes the functions of the schema recall. Only a superuser may create functions of PL/Proxy.
do $proxy$
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
end;
$proxy$;

create extension if not exists plproxy;
create extension if not exists vector;
create schema if not exists recall_proxy;
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
    constraint moves_pkey primary key (user_id),
    constraint moves_from_shard_fkey foreign key (from_shard) references recall_proxy.shards,
    constraint moves_to_shard_fkey foreign key (to_shard) references recall_proxy.shards,
    constraint moves_state_check check (state in ('copying', 'arrived'))
);
comment on table recall_proxy.moves is
    'Moves that are not finished. An arrived user lives on the new shard; the old rows remain.';

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
        exception when others then
            problem := sqlerrm;
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
-- for one role may add a password.
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
                      s.shard_no, s.connection), ', ' order by s.shard_no)
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
-- Users of an unfinished move are left out. It reads the ids of all users of the shard.
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
               p_shard, array(select a.slot from recall_proxy.slots as a)) as u (user_id)
      join recall_proxy.slots as s on s.slot = recall_proxy.slot_of(u.user_id)
      left join recall_proxy.moved_users as m on m.user_id = u.user_id
     where coalesce(m.shard_no, s.shard_no) <> p_shard
       and not exists (select from recall_proxy.moves as v where v.user_id = u.user_id)
     order by u.user_id;
end;

comment on function recall_proxy.list_strays(integer) is
    'Users with rows on a shard who live on another one.';

-- Give slots to a shard, so that new users come to it; no user moves.
-- The present users of these slots become exceptions on the shard where they live. The slots are
-- taken from the shards that have most. Calls wait meanwhile: it reads the ids of all their users.
-- Calls queue behind a waiting lock, so each wait is short and repeated.
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

-- Nobody but the owner uses the functions of administration.
revoke all on all functions in schema recall_proxy from public;
