"""An uninstall and what it would take from others: it refuses, and lists the objects."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest

from pgrecall import schema
from pgrecall.schema import InstallError
from support import append, call, open_session, rows, run, said, value
from support.installing import ROOT, SMALL, exists, install_by_driver, use
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
    """With partitions, a detached month and default privileges."""
    with psycopg.connect(copied, autocommit=True) as conn:
        use(conn)
        call(conn, "configure", p_changes={"drop_expired_history": False})
        user = value(conn, "select recall.ensure_user('ada')")
        session = open_session(conn, user)
        append(conn, user, session, said("old", created_at="2019-05-05T00:00:00Z"))
        parent = value(conn, "select recall._hash_leaf('recall.conversation_history', %s)::text",
                       [user])  # fmt: skip
        leaf = value(
            conn,
            "select l.leaf::text from recall._month_leaves(%s) as l"
            " where l.lower_bound > '2026-01-01' order by l.lower_bound limit 1",
            [parent],
        )
        conn.execute(f"alter table {parent} detach partition {leaf}".encode())
        conn.execute("alter default privileges in schema recall grant select on tables to public")
        schema.uninstall(conn)
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
        with pytest.raises(InstallError) as caught:
            schema.uninstall(conn)
        assert caught.value.detail == "pg_cron job 2 of ada: select * from recall.health()"
        assert value(conn, "select count(*) from cron.job") == 4
        schema.uninstall(conn, cascade=True)
        assert value(conn, "select array_agg(jobid order by jobid) from cron.job") == [2, 3, 4]
