"""Compare pgrecall with other stores of memories and conversations on one PostgreSQL server.

    python benchmarks/peers/run.py [--scale small] [--only NAME]… [--write]

Every contender gets a database of its own, the same data and the same vectors. Peers run in virtual
environments of their own (under .cache/peers, kept between runs), one after the other, in a process
each. The same code times them all. The report lists contenders that cannot be installed or fail.

`--scale crowd` has more users with more memories and measures recall for one of them. A run ends
after 15 minutes (crowd: an hour; `--minutes`), and lists contenders that were not measured by then.
`--write` publishes the results of its scale: the file of results, the tables of the pages and the
plots.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import importlib.metadata
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
import uuid
import venv
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import psycopg
from psycopg import conninfo

import report
from data import SCALES, write_data
from pgrecall.embedded import EmbeddedServer

HERE = Path(__file__).resolve().parent
CACHE = HERE.parents[1] / ".cache" / "peers"
FORMAT = 1

# file in contenders/ → file in requirements/; None is the environment of the project
CONTENDERS = {
    "floor": None,
    "pgrecall_sql": None,
    "pgrecall_driver": None,
    "plain_table": None,
    "langchain_store": "langchain",
    "langgraph_store": "langgraph",
    "mem0_memory": "mem0",
    "langchain_history": "langchain",
    "agents_session": "agents",
    "langgraph_checkpointer": "langgraph",
}
MINUTES = {"default": 15, "crowd": 60, "small": 5, "tiny": 2}
"""What a run takes at most, without making environments: who is not done by then is cut off."""

# Durable writes, no background work during a measurement, all data in memory.
SETTINGS = {
    "fsync": "on",
    "synchronous_commit": "on",
    "full_page_writes": "on",
    "shared_buffers": "1GB",
    "maintenance_work_mem": "1GB",
    "max_wal_size": "16GB",
    "checkpoint_timeout": "1h",
    "autovacuum": "off",
    "max_connections": "60",
}
SHOWN = (*SETTINGS, "work_mem", "jit", "wal_compression", "max_parallel_maintenance_workers")


class InstallError(RuntimeError):
    """The environment of a contender could not be created."""


def main() -> int:
    """Measure, print tables, and publish on request; return 1 when a contender failed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--scale", choices=SCALES, default="default")
    parser.add_argument("--only", action="append", choices=CONTENDERS, help="repeatable")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--minutes", type=float, help="of the run at most (default: by scale)")
    parser.add_argument("--dsn", help="a superuser's DSN (default: a temporary embedded server)")
    parser.add_argument("--json", type=Path, help="write the results to this file")
    parser.add_argument("--write", action="store_true", help="publish: results, tables, plots")
    options = parser.parse_args()

    names = [name for name in CONTENDERS if not options.only or name in options.only]
    if options.write and len(names) < len(CONTENDERS):
        parser.error("--write needs all contenders")
    if options.write and options.scale not in report.RESULTS:
        parser.error(f"--write publishes the scales {', '.join(report.RESULTS)}")
    results = measure(names, options.scale, options.seed, options.dsn, options.minutes)
    text = json.dumps(results, indent=2) + "\n"
    if options.json:
        options.json.write_text(text, encoding="utf-8")
    if options.write:
        report.RESULTS[options.scale].write_text(text, encoding="utf-8")
        report.publish()
    print(report.tables(results))
    return int(any("error" in found for found in results["contenders"].values()))


def measure(
    names: list[str], scale: str, seed: int, dsn: str | None, minutes: float | None = None
) -> dict[str, Any]:
    """Run the contenders one after the other, the floor before, between and after them."""
    for name in names:  # downloads do not count as time of the run
        with contextlib.suppress(InstallError):  # reported when its turn comes
            interpreter(CONTENDERS[name])
    started = time.monotonic()
    until = started + 60 * (MINUTES[scale] if minutes is None else minutes)
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="peers-")))
        if dsn is None:
            home = tempfile.TemporaryDirectory(prefix="pgrecall-peers-")
            server = EmbeddedServer(stack.enter_context(home), settings=SETTINGS)
            dsn = stack.enter_context(server).dsn
        write_data(folder, SCALES[scale], seed)
        found: dict[str, Any] = {}
        floors = []
        between = {0, len(names) // 2, len(names) - 1} if len(names) > 4 else {0}
        for place, name in enumerate(names):
            if name != "floor":
                found[name] = contend(name, dsn, folder, until)
            if "floor" in names and place in between:
                floors.append(contend("floor", dsn, folder, until))
        if floors:
            found = {"floor": report.middle(floors)} | found
        return {
            "format": FORMAT,
            "measured_at": datetime.now(UTC).isoformat(timespec="seconds"),
            "seconds": round(time.monotonic() - started),
            "scale": {"name": scale, **asdict(SCALES[scale]), "seed": seed},
            "machine": machine(),
            "server": described(dsn),
            "contenders": found,
        }


def contend(name: str, dsn: str, folder: Path, until: float) -> dict[str, Any]:
    """Measure one contender in its own interpreter and database; an error is a result, too."""
    print(f"{name:24}", end="", file=sys.stderr, flush=True)
    started = time.monotonic()
    try:
        python = interpreter(CONTENDERS[name])
        with database(dsn) as own:
            found = in_process(python, name, own, folder, max(0, until - started))
    except subprocess.TimeoutExpired:
        found = {"error": "the time of the run was over"}
    except (InstallError, RuntimeError) as error:
        found = {"error": str(error)}
    found["seconds"] = round(time.monotonic() - started, 1)
    print(f"{found['seconds']:7.1f} s  {found.get('error', '')}", file=sys.stderr, flush=True)
    return found


def in_process(python: Path, name: str, dsn: str, folder: Path, seconds: float) -> dict[str, Any]:
    """Run host.py and return what it measured."""
    out = folder / f"{name}.json"
    out.unlink(missing_ok=True)
    done = subprocess.run(
        [python, HERE / "host.py", name, "--dsn", dsn, "--data", folder, "--out", out],
        capture_output=True,
        text=True,
        timeout=seconds,
        env={**os.environ, "TMPDIR": str(folder)},  # also drop files that a library leaves
        check=False,
    )
    if done.returncode:
        last = done.stderr.strip().splitlines() or ["no message"]
        raise RuntimeError(f"failed: {last[-1]}")
    found: dict[str, Any] = json.loads(out.read_text(encoding="utf-8"))
    return found


def interpreter(requirements: str | None) -> Path:
    """Return the Python of an environment; create it when missing or out of date.

    Two names with a plus between them are one environment with the requirements of both.
    """
    if requirements is None:
        return Path(sys.executable)
    files = [HERE / "requirements" / f"{part}.txt" for part in requirements.split("+")]
    if missing := [file for file in files if not file.exists()]:
        raise InstallError(f"cannot be installed: {missing[0]} is missing")
    wanted = hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()
    home = CACHE / requirements
    python, stamp = home / "bin" / "python", home / "installed.sha256"
    if not stamp.exists() or stamp.read_text() != wanted:
        venv.create(home, clear=True, with_pip=True)
        pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        done = subprocess.run(
            [*pip, *(part for file in files for part in ("-r", file))],
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            last = done.stderr.strip().splitlines() or ["no message"]
            raise InstallError(f"cannot be installed: {last[-1]}")
        stamp.write_text(wanted)
    return python


@contextlib.contextmanager
def database(dsn: str) -> Iterator[str]:
    """Yield the DSN of a fresh database, dropped at the end."""
    name = f"peers_{uuid.uuid4().hex[:8]}"
    with psycopg.connect(dsn, autocommit=True) as admin:
        admin.execute(f"create database {name}")
        try:
            yield conninfo.make_conninfo(dsn, dbname=name)
        finally:
            admin.execute(f"drop database {name} with (force)")
            admin.execute("checkpoint")


def described(dsn: str, names: Iterable[str] = SHOWN) -> dict[str, Any]:
    """Return versions and settings of the server."""
    with psycopg.connect(dsn, autocommit=True) as db:
        shown = db.execute(
            "select name, current_setting(name) from pg_settings where name = any(%s)",
            [list(names)],
        ).fetchall()
        versions = db.execute(
            "select current_setting('server_version'),"
            " (select default_version from pg_available_extensions where name = 'vector')"
        ).fetchone()
    assert versions is not None
    return {
        "postgresql": versions[0].split()[0],
        "pgvector": versions[1],
        "pgrecall": importlib.metadata.version("pgrecall"),
        "settings": dict(sorted(shown)),
    }


def machine() -> dict[str, Any]:
    """Return what is known of the machine."""
    return {
        "cpus": len(os.sched_getaffinity(0)),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
    }


if __name__ == "__main__":
    sys.exit(main())
