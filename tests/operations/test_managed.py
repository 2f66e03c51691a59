"""The owner on a managed server is no superuser: installation, worker, backup and upgrade."""

from __future__ import annotations

import os
import subprocess
import sys
import uuid
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg import conninfo, sql

from pgrecall import schema
from pgrecall.schema import InstallError
from support import append, call, open_session, run, said, value
from support.installing import (
    SMALL,
    install_by_psql,
    installer,
    our_roles,
)
from support.servers import TestServer

pytestmark = pytest.mark.slow


def pgrecall(dsn: str, *words: str) -> str:
    """Run the command as the owner; it succeeds."""
    done = subprocess.run(
        [Path(sys.executable).with_name("pgrecall"), *words, "--dsn", dsn],
        capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL,
        env={**os.environ, "COLUMNS": "300"},
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def prepared(
    server: TestServer, login: dict[str, str], *, may_create: bool, passes_on: bool = False
) -> str:
    """Create a database as an administrator does, its extensions in a schema of their own."""
    name = server.create_database("managed")
    with psycopg.connect(server.dsn(name), autocommit=True) as conn:
        owner = sql.Identifier(login["user"])
        conn.execute("create schema extensions")
        conn.execute(sql.SQL("grant usage on schema extensions to {} {}").format(
            owner, sql.SQL("with grant option" if passes_on else "")))  # fmt: skip
        conn.execute("create extension vector schema extensions")
        conn.execute("create extension pg_trgm schema extensions")
        if may_create:
            conn.execute(sql.SQL("grant create on database {} to {}").format(
                sql.Identifier(name), owner))  # fmt: skip
        else:
            conn.execute(sql.SQL("create schema recall authorization {}").format(owner))
    return server.dsn(name, **login)


@pytest.mark.parametrize("options", ["", "createrole"], ids=["plain", "createrole"])
def test_restricted_owner_installs_runs_backs_up_and_upgrades(
    fresh: TestServer,
    tmp_path: Path,
    options: str,
) -> None:
    """Without CREATEROLE also without CREATE on the database: its schema was made for it."""
    with installer(fresh, options) as login:
        dsn = prepared(fresh, login, may_create=bool(options))
        if options:  # the new owner must reach the extensions, too: the hint says how
            with (
                psycopg.connect(dsn, autocommit=True) as conn,
                pytest.raises(InstallError, match="may not use schema extensions") as refused,
            ):
                schema.install(conn, **SMALL)
            with psycopg.connect(
                fresh.dsn(str(conninfo.conninfo_to_dict(dsn)["dbname"])), autocommit=True
            ) as conn:
                conn.execute(str(refused.value.hint).partition("owner runs: ")[2].encode())
        install_by_psql(dsn, **SMALL)
        assert bool(our_roles(fresh)) == bool(options)
        user = uuid.uuid4()
        with psycopg.connect(dsn, autocommit=True) as conn:
            assert not value(conn, "select rolsuper from pg_roles where rolname = current_user")
            session = open_session(conn, user, p_metadata={"extraction": "verbatim"})
            append(conn, user, session, said("My sister Berta lives in Turku with two cats."))
        # worker, and maintenance without pg_cron
        pgrecall(dsn, "worker", "--until-idle", "--flush", "--no-embedding")
        pgrecall(dsn, "tick")
        with psycopg.connect(dsn, autocommit=True) as conn:
            assert "Turku" in call(conn, "search", p_user_id=user, p_query="Berta")[0]["content"]
            with pytest.raises(psycopg.Error) as caught:
                conn.execute("select * from recall.schedule_maintenance()")
            assert caught.value.diag.message_hint
            checks: Any = conn.execute("select name, status, hint from recall.health()").fetchall()
        status = {name: state for name, state, _ in checks}
        assert "fail" not in status.values()
        assert [name for name, state, hint in checks if state == "warn" and not hint] == []
        assert status["owner"] == status["roles"] == ("ok" if options else "warn")
        assert "fail" not in pgrecall(dsn, "doctor").split()
        if not options:  # the choice is accepted once the installer is told
            pgrecall(dsn, "install", "--owner", login["user"])
            with psycopg.connect(dsn, autocommit=True) as conn:
                found = dict(conn.execute("select name, status from recall.health()").fetchall())
                assert (found["owner"], found["roles"]) == ("ok", "warn")
        # backup by the owner into another database, then an upgrade there
        target = prepared(fresh, login, may_create=True, passes_on=True)
        dump = tmp_path / "dump.sql"
        done = run("pg_dump", dsn, "--schema=recall", "-f", str(dump))
        assert (done.returncode, done.stderr) == (0, "")
        done = run("psql", target, "-qX1", "-v", "ON_ERROR_STOP=1", "-f", str(dump))
        assert (done.returncode, done.stderr) == (0, "")
        pgrecall(target, "install")
        with psycopg.connect(target, autocommit=True) as conn:
            assert "Turku" in call(conn, "search", p_user_id=user, p_query="Berta")[0]["content"]
            assert not call(conn, "verify_integrity", p_user_id=user)
