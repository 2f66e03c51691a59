"""PgBouncer before the server of a run, and a proxy that can fall silent."""

from __future__ import annotations

import contextlib
import os
import select
import shutil
import socket
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict, make_conninfo

SCRIPT = Path(__file__).resolve().parents[2] / ".ci" / "debian_pg.sh"


@contextmanager
def pgbouncer(dsn: str, **settings: object) -> Iterator[str]:
    """Yield a DSN of the same database through PgBouncer in transaction mode.

    Skip the test where .ci/debian_pg.sh has none: CI runs it on Debian's server.
    """
    server = conninfo_to_dict(dsn)
    root = os.environ.get("PGRECALL_CHROOT") or "/var/tmp/pgrecall-debian"
    if server.get("host") != "127.0.0.1" or not Path(root, "usr/sbin/pgbouncer").exists():
        pytest.skip("PgBouncer is Debian's, and stands before Debian's server")
    port = _free_port()
    process = subprocess.Popen(
        [str(SCRIPT), "pgbouncer", str(port), *(f"{key}={item}" for key, item in settings.items())],
        env={**os.environ, "PGRECALL_PORT": str(server["port"])},
    )
    try:
        yield _reachable(make_conninfo(dsn, port=port), process)
    finally:
        process.kill()
        process.wait()
        shutil.rmtree(Path(root, f"run/pgbouncer-{port}"), ignore_errors=True)


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as found:
        return int(found.getsockname()[1])


def _reachable(dsn: str, process: subprocess.Popen[bytes]) -> str:
    for _ in range(200):
        assert process.poll() is None, "PgBouncer does not start"
        with contextlib.suppress(psycopg.OperationalError), psycopg.connect(dsn):
            return dsn
        time.sleep(0.05)
    raise AssertionError("PgBouncer is not reachable")


class Proxy:
    """Passes bytes on to the server of a DSN, until it is told to hold them back.

    Attributes:
        dsn: of the same database, through the proxy.
    """

    def __init__(self, dsn: str) -> None:
        self._server = conninfo_to_dict(dsn)
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._silent = threading.Event()
        self._closed = threading.Event()
        self.dsn = make_conninfo(
            dsn, host="127.0.0.1", port=self._listener.getsockname()[1], sslmode="disable"
        )
        threading.Thread(target=self._accept, daemon=True).start()

    def fall_silent(self) -> None:
        """Accept and hold everything back from now on, as a dead network does."""
        self._silent.set()

    def close(self) -> None:
        self._closed.set()
        self._listener.close()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                threading.Thread(target=self._pass_on, args=(client,), daemon=True).start()

    def _pass_on(self, client: socket.socket) -> None:
        host, port = str(self._server["host"]), int(self._server.get("port") or 5432)
        if host.startswith("/"):
            server = socket.socket(socket.AF_UNIX)
            server.connect(f"{host}/.s.PGSQL.{port}")
        else:
            server = socket.create_connection((host, port))
        with client, server:
            while not self._closed.is_set():
                ready, _, _ = select.select([client, server], [], [], 0.05)
                if self._silent.is_set():
                    time.sleep(0.05)
                    continue
                for one in ready:
                    data = one.recv(65536)
                    if not data:
                        return
                    (server if one is client else client).sendall(data)


@contextmanager
def proxy(dsn: str) -> Iterator[Proxy]:
    """Yield a proxy before the server of a DSN."""
    running = Proxy(dsn)
    try:
        yield running
    finally:
        running.close()
