"""Traps of a stranger in a database that a superuser makes a shard or a proxy."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
from psycopg import conninfo

from pgrecall.cli._shards import init_shards
from pgrecall.schema import read_file
from support import login_role, value
from support.proxies import Fleet, require_plproxy
from support.servers import TestServer
from support.two_users import as_role

Connection = psycopg.Connection[Any]

# Each matches a call exactly that pg_catalog has as a variadic or polymorphic function only; the
# domains come before the types of pg_catalog where the path says so.
TRAPS = """
create schema evil;
create function evil.format(text, text) returns text language plpgsql as
    $$ begin raise exception 'hijacked by format'; end $$;
create function evil.format(text, name) returns text language plpgsql as
    $$ begin raise exception 'hijacked by format'; end $$;
create function evil.format(text, text, text) returns text language plpgsql as
    $$ begin raise exception 'hijacked by format'; end $$;
create function evil.to_regclass(text) returns regclass language plpgsql as
    $$ begin raise exception 'hijacked by to_regclass'; end $$;
create function evil.quote_ident(text) returns text language plpgsql as
    $$ begin raise exception 'hijacked by quote_ident'; end $$;
create function evil.set_config(text, text, boolean) returns text language plpgsql as
    $$ begin raise exception 'hijacked by set_config'; end $$;
create function evil.count() returns bigint language plpgsql as
    $$ begin raise exception 'hijacked by count'; end $$;
create function evil.pg_advisory_xact_lock(bigint) returns void language plpgsql as
    $$ begin raise exception 'hijacked by pg_advisory_xact_lock'; end $$;
create domain evil.name as pg_catalog.text check (false);
"""


def _set_traps(dsn: str) -> None:
    with psycopg.connect(dsn, autocommit=True) as conn:
        conn.execute(TRAPS.encode())
        name = conn.info.dbname
        conn.execute(f'alter database "{name}" set search_path = evil, pg_catalog, public'.encode())


@pytest.fixture
def trapped(server: TestServer) -> Iterator[Fleet]:
    """An empty database for a proxy, and an installation for a shard, both with traps."""
    require_plproxy(server)
    fleet = Fleet(server, server.dsn(server.create_database("trapped_proxy")))
    try:
        fleet.add_database("a")
        for dsn in (fleet.dsn, server.dsn(fleet.databases["a"])):
            _set_traps(dsn)
        yield fleet
    finally:
        for database in (conninfo.conninfo_to_dict(fleet.dsn)["dbname"],
                         *fleet.databases.values()):  # fmt: skip
            server.drop_database(str(database))


def test_files_run_by_a_superuser_use_no_trap(trapped: Fleet) -> None:
    """As psql -1 runs them: each in one transaction, on the path of the database."""
    shard_dsn = trapped.server.dsn(trapped.databases["a"])
    with psycopg.connect(shard_dsn) as shard:
        shard.execute(read_file("sql/proxy/shard.sql").encode())
    with psycopg.connect(trapped.dsn) as proxy:
        proxy.execute(read_file("sql/proxy/proxy.sql").encode())
        proxy.execute("select recall_proxy.add_shard('a', %s)", [trapped.connection("a")])
        proxy.execute("select recall_proxy.share_slots()")
    with psycopg.connect(shard_dsn) as shard:
        made = shard.execute(read_file("sql/proxy/generate.sql").encode())
        while made.nextset():
            pass
        text = "\n".join(row[0] for row in made.fetchall())
    with psycopg.connect(trapped.dsn) as proxy:
        proxy.execute(text.encode())
    with trapped.proxy() as proxy:
        assert value(proxy, "select recall.version()")
        assert value(
            proxy,
            "select a.atttypid operator(pg_catalog.=) t.oid from pg_catalog.pg_attribute as a"
            " join pg_catalog.pg_type as t on t.typname operator(pg_catalog.=) 'halfvec'"
            " where a.attrelid = 'recall.memory_embedding'::regclass",
        )


def test_command_uses_no_trap(trapped: Fleet, monkeypatch: pytest.MonkeyPatch) -> None:
    from pgrecall.cli import main

    monkeypatch.setenv("PGRECALL_DSN", trapped.dsn)
    shard = f"a={trapped.connection('a')}"
    for words in (["init", "--shard", shard], ["status"]):
        with pytest.raises(SystemExit) as ended:
            main(["shards", *words])
        assert not ended.value.code, words


def test_halfvec_may_have_another_schema_on_the_proxy(trapped: Fleet) -> None:
    with trapped.proxy() as proxy:
        proxy.execute('create schema "odd\'s {}"; create extension vector schema "odd\'s {}"')
        proxy.execute("set search_path = pg_catalog")
        init_shards(proxy, {"a": trapped.connection("a")})
        found = value(proxy, "select format_type(atttypid, null) from pg_catalog.pg_attribute"
                             " where attrelid = 'recall.memory_embedding'::regclass")  # fmt: skip
        assert found == '"odd\'s {}".halfvec'


@pytest.mark.parametrize("schema", ["recall_proxy", "recall_shard"])
def test_schema_of_a_stranger_is_refused(trapped: Fleet, schema: str) -> None:
    shard_dsn = trapped.server.dsn(trapped.databases["a"])
    dsn, file = {
        "recall_proxy": (trapped.dsn, "proxy"), "recall_shard": (shard_dsn, "shard"),
    }[schema]  # fmt: skip
    with psycopg.connect(dsn, autocommit=True) as conn:
        conn.execute("set search_path = pg_catalog")
        with login_role(conn) as login:
            conn.execute(f'create schema {schema} authorization "{login["user"]}"'.encode())
            with as_role(dsn, login) as theirs:
                theirs.execute(f"create table {schema}.shards (a int)".encode())
            with pytest.raises(psycopg.Error, match=f"schema {schema} "
                               ) as refused:  # fmt: skip
                conn.execute(read_file(f"sql/proxy/{file}.sql").encode())
            assert refused.value.sqlstate == "RC007"
            assert refused.value.diag.message_hint
            home = "recall" if schema == "recall_shard" else "pg_catalog"
            owner = value(conn, "select nspowner::regrole::text from pg_namespace"
                                " where nspname = %s", [home])  # fmt: skip
            conn.execute(f"alter schema {schema} owner to {owner};"
                         f" drop table {schema}.shards".encode())  # fmt: skip
            conn.execute(read_file(f"sql/proxy/{file}.sql").encode())
