"""Install the schema by each route, and compare what the routes leave."""

from __future__ import annotations

import os
import re
import subprocess
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg import sql

from pgrecall import schema
from support import Connection, append, call, login_role, open_session, rows, run, said, value
from support.servers import TestServer, running_server

ROOT = Path(__file__).resolve().parents[2]
TEXT = (ROOT / "tests" / "contract" / "catalog_lint.sql").read_text(encoding="utf-8")
RULES = dict(re.findall(r"(?ms)^-- rule: ([^\n]+)\n(.*?;)$", TEXT))
ROLES = ("recall_admin", "recall_owner", "recall_reader", "recall_worker", "recall_writer")
# makes a schema cron and its table job a stand-in for pg_cron
AS_PG_CRON = """
set allow_system_table_mods = on;
insert into pg_extension (oid, extname, extowner, extnamespace, extrelocatable, extversion)
select 999999, 'pg_cron', 10, 'cron'::regnamespace, false, '1.4';
insert into pg_depend (classid, objid, objsubid, refclassid, refobjid, refobjsubid, deptype)
select 'pg_class'::regclass, 'cron.job'::regclass, 0, 'pg_extension'::regclass, 999999, 0, 'e';
reset allow_system_table_mods;
"""
SMALL = {"embedding_dimensions": 4, "hash_partitions": 2, "history_months_ahead": 3}


def psql(dsn: str, file: str | Path, **sizes: int) -> subprocess.CompletedProcess[str]:
    """Run a file by psql, sizes of the installation in PGOPTIONS."""
    options = " ".join(f"-c recall.{name}={size}" for name, size in sizes.items())
    return run("psql", dsn, "-qX", "-f", str(file), env={**os.environ, "PGOPTIONS": options})


def install_by_psql(dsn: str, **sizes: int) -> None:
    done = psql(dsn, ROOT / "sql" / "install.sql", **sizes)
    assert (done.returncode, done.stdout + done.stderr) == (0, "")


def install_by_driver(dsn: str, **sizes: Any) -> None:
    with psycopg.connect(dsn, autocommit=True) as conn:
        schema.install(conn, **sizes)


def exists(dsn: str) -> bool:
    """Say whether a schema recall exists there."""
    with psycopg.connect(dsn, autocommit=True) as conn:
        return bool(value(conn, "select to_regnamespace('recall') is not null"))


def clear(server: TestServer) -> None:
    """Drop all databases of the tests and all our roles."""
    server.drop_all()
    drop_our_roles(server)


def drop_our_roles(server: TestServer) -> None:
    with server.admin() as admin:
        for role in our_roles(server):
            admin.execute(sql.SQL("drop role {}").format(sql.Identifier(role)))


@contextmanager
def installer(server: TestServer, options: str = "") -> Iterator[dict[str, str]]:
    """Create a plain login role; what is left of it at the end goes with all databases."""
    with server.admin() as admin, login_role(admin, options=options) as login:
        try:
            yield login
        finally:
            clear(server)


def our_roles(server: TestServer) -> tuple[str, ...]:
    with server.admin() as admin:
        return tuple(
            row["rolname"]
            for row in rows(
                admin, r"select rolname from pg_roles where rolname like 'recall\_%' order by 1"
            )
        )


def owned_database(server: TestServer, login: dict[str, str]) -> str:
    """Create a database that a plain role owns, with the extensions; return the role's DSN."""
    name = server.create_database("owned")
    with server.admin() as admin:
        admin.execute(
            sql.SQL("alter database {} owner to {}").format(
                sql.Identifier(name), sql.Identifier(login["user"])
            )
        )
    with psycopg.connect(server.dsn(name), autocommit=True) as conn:
        conn.execute("create extension vector")
        conn.execute("create extension pg_trgm")
    return server.dsn(name, **login)


def broken_rules(conn: Connection) -> list[str]:
    return [f"{rule}: {row[0]}" for rule, q in RULES.items() for row in conn.execute(q.encode())]


def health(conn: Connection) -> dict[str, str]:
    return {row["name"]: row["status"] for row in call(conn, "health")}


def use(conn: Connection) -> None:
    """Use the schema as an application does."""
    user = uuid.uuid4()
    session = open_session(conn, user)
    append(conn, user, session, said("hello"))
    call(conn, "remember", p_user_id=user, p_content="Ada likes tea.", p_embedding="[1,2,3,4]")
    assert len(call(conn, "get_messages", p_user_id=user, p_session_id=session)) == 1
    assert call(conn, "ensure_partitions") == [{"done": 0, "more": False}]


@pytest.fixture(scope="module")
def cluster() -> Iterator[TestServer]:
    """A cluster of a module's own: our roles belong to the cluster."""
    with running_server("embedded") as server:
        yield server


@pytest.fixture
def fresh(cluster: TestServer) -> Iterator[TestServer]:
    """That cluster without any of our roles."""
    assert our_roles(cluster) == ()
    yield cluster
    clear(cluster)
