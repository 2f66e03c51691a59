"""An uninstall and what it would take from others: it refuses, and lists the objects."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

import psycopg
import pytest

from pgrecall import schema
from pgrecall.schema import InstallError
from support import login_role, rows, run, value
from support.installing import AS_PG_CRON, ROOT, SMALL, exists, install_by_driver, use
from support.released import drop_months
from support.servers import TestServer

Connection = psycopg.Connection[Any]


@pytest.fixture(scope="module")
def template(server: TestServer) -> Iterator[str]:
    """A database with an installation, to copy."""
    name = server.create_database("to_copy")
    install_by_driver(server.dsn(name), **SMALL)
    yield name
    server.drop_database(name)


@pytest.fixture
def copied(server: TestServer, template: str) -> Iterator[str]:
    name = server.create_database("copied", template=template)
    yield server.dsn(name)
    server.drop_database(name)


THEIRS: dict[str, tuple[str, list[str]]] = {
    "column": (
        "create table public.orders (id integer, st recall.session_status default 'active')",
        ["column st of table public.orders"],
    ),
    "array column": (
        "create table public.orders (id integer, st recall.memory_row[])",
        ["column st of table public.orders"],
    ),
    "default": (
        "create table public.orders (id uuid default recall.uuidv7())",
        ["default value for column id of table public.orders"],
    ),
    "generated column": (
        ("create table public.orders (name text,"
        " id uuid generated always as (recall.user_id(name)) stored)"),
        ["default value for column id of table public.orders"],
    ),
    "index": (
        ("create table public.orders (name text);"
        "create index orders_user on public.orders (recall.user_id(name))"),
        ["index public.orders_user"],
    ),
    "check": (
        ("create table public.orders (name text, constraint known check"
        " (recall.user_id(name) is not null))"),
        ["constraint known on table public.orders"],
    ),
    "view": (
        "create view public.people as select user_id from recall.users",
        ["view public.people"],
    ),
    "view of a view": (
        ("create view public.people as select user_id from recall.users;"
        "create materialized view public.count as select count(*) from public.people"),
        ["materialized view public.count", "view public.people"],
    ),
    "view of a column": (
        ("create table public.orders (id integer, st recall.session_status);"
        "create view public.states as select st from public.orders"),
        ["column st of table public.orders", "view public.states"],
    ),
    "function": (
        "create function public.f(recall.session_status) returns int language sql return 1",
        ["function public.f(recall.session_status)"],
    ),
    "function with a body": (
        "create function public.f() returns text language sql return recall.version()",
        ["function public.f()"],
    ),
    "foreign key": (
        "create table public.orders (user_id uuid constraint owner references recall.users)",
        ["constraint owner on table public.orders"],
    ),
    "policy of theirs": (
        ("create table public.orders (name text);"
        "create policy mine on public.orders using (recall.user_id(name) is not null)"),
        ["policy mine on table public.orders"],
    ),
    "policy on ours": (
        "create policy mine on recall.users using (true)",
        ["policy mine on table recall.users"],
    ),
    "trigger on ours": (
        ("create function public.f() returns trigger language plpgsql as 'begin return new; end';"
        "create trigger audit after insert on recall.users"
        " for each row execute function public.f()"),
        ["trigger audit on table recall.users"],
    ),
    "trigger of theirs": (
        ("create table public.orders (id integer);"
        "create trigger fixed before update on public.orders"
        " for each row execute function recall._refuse_update()"),
        ["trigger fixed on table public.orders"],
    ),
    "publication": (
        "create publication changes for table recall.memory_kinds",
        ["publication of table recall.memory_kinds in publication changes"],
    ),
    "publication of the schema": (
        "create publication changes for tables in schema recall",
        ["publication of schema recall in publication changes"],
    ),
    "statistics": (
        "create statistics public.models_of on model_id, tokenizer from recall.models",
        ["statistics object public.models_of"],
    ),
    "rule": (
        "create rule quiet as on delete to recall.models do instead nothing",
        ["rule quiet on table recall.models"],
    ),
    "domain": (
        "create domain public.state as recall.session_status",
        ["type public.state"],
    ),
    "heir": (
        "create table public.heir () inherits (recall.models)",
        ["table public.heir"],
    ),
    "table in the schema": (
        "create table recall.notes (id integer)",
        ["table recall.notes"],
    ),
    "table of the owner in the schema": (
        "set role recall_owner; create table recall.users_backup (id integer); reset role",
        ["table recall.users_backup"],
    ),
    "function in the schema": (
        ("set role recall_owner; create function recall.mine(a halfvec) returns int"
        " language sql as 'select 1'; reset role"),
        ["function recall.mine("],
    ),
    "overload of ours": (
        ("set role recall_owner; create function recall.version(a integer) returns int"
        " language sql as 'select 1'; reset role"),
        ["function recall.version(integer)"],
    ),
    "type in the schema": (
        "set role recall_owner; create type recall.pair as (a integer, b integer); reset role",
        ["type recall.pair"],
    ),
    "domain of the owner": (
        "set role recall_owner; create domain recall.mail as text; reset role",
        ["type recall.mail"],
    ),
    "enum of the owner": (
        "set role recall_owner; create type recall.color as enum ('red'); reset role",
        ["type recall.color"],
    ),
    "collation of the owner": (
        "set role recall_owner; create collation recall.swedish (locale = 'C'); reset role",
        ["collation recall.swedish"],
    ),
    "text search configuration of the owner": (
        ("set role recall_owner; create text search configuration recall.plain"
        " (copy = pg_catalog.simple); reset role"),
        ["text search configuration recall.plain"],
    ),
    "operator of the owner": (
        ("set role recall_owner; create operator recall.@@@"
        " (leftarg = int, rightarg = int, function = int4pl); reset role"),
        ["operator recall.@@@(integer,integer)"],
    ),
    "tables named like partitions": (
        ("set role recall_owner; create table recall.users_old (id integer);"
        "create table recall.users_p77_y2026m01 (id integer);"
        "create table recall.conversation_history_p9_old (id integer); reset role"),
        ["table recall.conversation_history_p9_old", "table recall.users_old",
        "table recall.users_p77_y2026m01"],
    ),
    "table among those of a shard": (
        (ROOT / "sql" / "proxy" / "shard.sql").read_text(encoding="utf-8")
        + "create table recall_shard.orders (id integer); reset role",
        ["table recall_shard.orders"],
    ),
    "enum in the schema": (
        "create type recall.color as enum ('red')",
        ["type recall.color"],
    ),
}  # fmt: skip


def kept(conn: Connection) -> list[str]:
    """Return what stands outside of the schema, as PostgreSQL describes it."""
    found = rows(
        conn,
        "select i.type || ' ' || i.identity as name from (select 'pg_class'::regclass as class, oid"
        " from pg_class where oid > 16383 union all select 'pg_proc'::regclass, oid from pg_proc"
        " where oid > 16383) as o cross join pg_identify_object(o.class, o.oid, 0) as i"
        " where i.schema not in ('recall', 'pg_toast') order by 1",
    )
    return [row["name"] for row in found]


@pytest.mark.parametrize("case", THEIRS)
def test_objects_of_others_stop_an_uninstall(copied: str, case: str) -> None:
    made, listed = THEIRS[case]
    with psycopg.connect(copied, autocommit=True) as conn:
        conn.execute(made.encode())
        before = kept(conn)
        with pytest.raises(InstallError, match="that are not pgrecall's would go") as caught:
            schema.uninstall(conn)
        assert caught.value.sqlstate == "RC007"
        assert caught.value.detail is not None
        found = caught.value.detail.splitlines()
        assert len(found) == len(listed), found
        assert all(line.startswith(one) for line, one in zip(found, listed, strict=True)), found
        assert "recall.uninstall_cascade = on" in str(caught.value.hint)
        assert kept(conn) == before
        use(conn)
        schema.uninstall(conn, cascade=True)
    assert not exists(copied)


def test_a_used_installation_has_nothing_of_others(copied: str) -> None:
    """A shard with partitions, a month that retention has detached, and default privileges."""
    with psycopg.connect(copied, autocommit=True) as conn:
        use(conn)
        drop_months(conn)
        conn.execute((ROOT / "sql" / "proxy" / "shard.sql").read_bytes())
        conn.execute("alter default privileges in schema recall grant select on tables to public")
        schema.uninstall(conn)
        assert value(conn, "select to_regnamespace('recall_shard') is null")
    assert not exists(copied)


def test_psql_lists_the_objects_and_takes_the_setting(copied: str) -> None:
    with psycopg.connect(copied, autocommit=True) as conn:
        conn.execute("create table public.orders (id integer, st recall.session_status)")

    def psql(options: str) -> Any:
        return run("psql", copied, "-qX", "-f", str(ROOT / "sql" / "uninstall.sql"),
                   env={**os.environ, "PGOPTIONS": options})  # fmt: skip

    refused = psql("")
    assert (refused.returncode, exists(copied)) == (3, True)
    assert "DETAIL:  column st of table public.orders" in refused.stderr
    assert (
        "recall.uninstall_cascade is 'perhaps'"
        in psql("-c recall.uninstall_cascade=perhaps").stderr
    )
    done = psql("-c recall.uninstall_cascade=on")
    assert (done.returncode, exists(copied)) == (0, False)


def test_a_schema_of_others_is_not_dropped(empty_dsn: str) -> None:
    with psycopg.connect(empty_dsn, autocommit=True) as conn:
        conn.execute("create schema recall; create table recall.phone_calls (id integer)")
        with pytest.raises(InstallError) as caught:
            schema.uninstall(conn)
        assert caught.value.detail == "table recall.phone_calls"
        assert value(conn, "select count(*) from recall.phone_calls") == 0


@pytest.mark.parametrize("made", ["table", "view"])
def test_settings_of_others_do_not_make_a_schema_ours(empty_dsn: str, made: str) -> None:
    with psycopg.connect(empty_dsn, autocommit=True) as conn:
        conn.execute(f"create schema recall; create {made} recall.settings as"
                     " select 'x'::text as role_prefix".encode())  # fmt: skip
        with pytest.raises(InstallError) as caught:
            schema.uninstall(conn)
        assert caught.value.detail == f"{made} recall.settings"
        assert value(conn, "select count(*) from recall.settings") == 1


def test_a_schema_recall_shard_of_others_stays(copied: str) -> None:
    with psycopg.connect(copied, autocommit=True) as conn:
        conn.execute("create schema recall_shard; create table recall_shard.orders (id integer)")
        schema.uninstall(conn, cascade=True)
        assert value(conn, "select count(*) from recall_shard.orders") == 0


# what eve's code has done as a superuser; a sequence keeps it after a rollback, too
RAN = """
create schema eve;
create sequence eve.ran;
create function eve.own() returns text language plpgsql as $$
begin
    reset role;
    if (select rolsuper from pg_roles where rolname = current_user) then
        perform nextval('eve.ran');
    end if;
    return null;
end $$;
"""
TRAPS = {
    "pg_cron": """
        create schema cron;
        create function cron.unschedule(bigint) returns boolean language sql return true;
        create view cron.job as
        select eve.own()::bigint as jobid, 'recall_x' as jobname, 'a' as database, 'b' as command;
    """,
    "views": """
        create schema recall;
        create view recall.settings as
        select eve.own() as role_prefix, eve.own() as scheduled_by, 0::oid as scheduled_in,
               eve.own() is null as share_roles, 4 as embedding_dimensions;
        create view recall.migrations as select array[eve.own()] as objects;
    """,
    "cast": """
        create schema recall;
        create type eve.word as enum ('x');
        create function eve.of(eve.word) returns text language sql as 'select eve.own()';
        create cast (eve.word as text) with function eve.of as implicit;
        create table recall.settings as
        select 'x'::eve.word as role_prefix, 'x'::eve.word as scheduled_by, 0::oid as scheduled_in,
               true as share_roles, 4 as embedding_dimensions;
    """,
}


@pytest.mark.parametrize("act", [schema.uninstall, schema.install])
@pytest.mark.parametrize("trap", TRAPS)
def test_names_that_another_role_has_made_run_nothing(
    empty_dsn: str, trap: str, act: Callable[[Connection], None]
) -> None:
    """The caller is a superuser, where another role may create schemas."""
    with psycopg.connect(empty_dsn, autocommit=True) as conn, login_role(conn) as eve:
        name = eve["user"]
        conn.execute(f'grant create on database "{conn.info.dbname}" to {name}'.encode())
        with psycopg.connect(empty_dsn, autocommit=True, **eve) as trapper:
            trapper.execute((RAN + TRAPS[trap]).encode())
        with suppress(InstallError):
            act(conn)
        assert not value(conn, "select is_called from eve.ran")


def test_a_shard_takes_no_schema_of_another_role(copied: str) -> None:
    """Functions with the owner's rights would read its tables."""
    with psycopg.connect(copied, autocommit=True) as conn, login_role(conn) as eve:
        conn.execute(f"create schema recall_shard authorization {eve['user']}".encode())
        with pytest.raises(psycopg.Error, match="does not belong to recall_owner") as caught:
            conn.execute((ROOT / "sql" / "proxy" / "shard.sql").read_bytes())
        assert caught.value.sqlstate == "RC007"


def test_tables_of_others_stay_theirs_after_an_upgrade(copied: str) -> None:
    with psycopg.connect(copied, autocommit=True) as conn:
        conn.execute("set role recall_owner; create table recall.notes (id integer); reset role")
        install_by_driver(copied)
        with pytest.raises(InstallError) as caught:
            schema.uninstall(conn)
        assert caught.value.detail == "table recall.notes"


def test_pg_cron_jobs_of_others_that_call_us_are_listed(copied: str) -> None:
    """A stand-in for pg_cron."""
    with psycopg.connect(copied, autocommit=True) as conn:
        conn.execute(
            """
            create schema cron;
            create table cron.job (jobid bigint, jobname text, database text, username text,
                                   command text);
            create function cron.unschedule(p_id bigint) returns boolean language sql
            begin atomic
                delete from cron.job where jobid = p_id;
                select true;
            end;
            insert into cron.job values
                (1, 'recall_expire' || recall._cron_suffix(), current_database(), 'x',
                 'select recall.expire_working()'),
                (2, 'theirs', current_database(), 'ada', 'select * from recall.health()'),
                (3, 'other', current_database(), 'ada', 'select recalled.x()'),
                (4, 'elsewhere', 'elsewhere', 'ada', 'select recall.health()');
            """
        )
        conn.execute(AS_PG_CRON.encode())
        with pytest.raises(InstallError) as caught:
            schema.uninstall(conn)
        assert caught.value.detail == "pg_cron job 2 of ada: select * from recall.health()"
        assert value(conn, "select count(*) from cron.job") == 4
        schema.uninstall(conn, cascade=True)
        assert value(conn, "select array_agg(jobid order by jobid) from cron.job") == [2, 3, 4]
