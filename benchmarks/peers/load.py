"""Put a chat product's load on pgrecall and on its peers, one after the other.

    python benchmarks/peers/load.py [--minutes 5] [--only NAME]… [--rate 200] [--write]

32 clients hold conversations: threads of four processes, since an application has several workers.
A turn is the context of the next prompt and an append. A tenth of the turns store a memory, and
one of twenty searches the user's messages, where a system can. No model is called, and a table
look-up replaces the embedding model. Autovacuum and checkpoints run. Two workers of pgrecall, with
all its sweeps, run beside its clients.

The figures are of the clients: turns a second, quantiles of each call, and stalls. Those of the
server are processor time and log for each turn, on Linux and a server of this machine. `--rate`
spaces the turns instead of sending them without a pause. `--write` publishes the results.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import psycopg

import figures
import report
import run
from data import Scale, write_data
from pgrecall.embedded import EmbeddedServer

HERE = Path(__file__).resolve().parent
RESULTS = report.LOAD

# file in systems/ → file in requirements/, as run.CONTENDERS
SYSTEMS = {
    "pgrecall_python": None,
    "pgrecall_small_pools": None,
    "mem0_agents": "mem0+agents",
    "langgraph": "langgraph",
}
SETTINGS = run.SETTINGS | {
    "autovacuum": "on",
    "autovacuum_naptime": "15s",
    "checkpoint_timeout": "1min",
    "max_connections": "150",
}
BACKGROUND = "load background"  # the application name of workers


def main() -> int:
    """Measure, print a table, and publish on request; return 1 when a system failed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--minutes", type=float, default=5.0, help="measured, of each system")
    parser.add_argument("--warm-up", type=float, default=15.0, help="seconds before them")
    parser.add_argument("--clients", type=int, default=32)
    parser.add_argument("--processes", type=int, default=4)
    parser.add_argument("--workers", type=int, default=2, help="processes of pgrecall's worker")
    parser.add_argument("--rate", type=float, default=0.0, help="turns a second, all clients")
    parser.add_argument("--users", type=int, default=320)
    parser.add_argument("--memories", type=int, default=50, help="of a user")
    parser.add_argument("--dimensions", type=int, default=1_536)
    parser.add_argument("--only", action="append", choices=SYSTEMS, help="repeatable")
    parser.add_argument("--dsn", help="a superuser's DSN (default: a temporary embedded server)")
    parser.add_argument("--json", type=Path, help="write the results to this file")
    parser.add_argument("--write", action="store_true", help="publish the results")
    options = parser.parse_args()
    if options.clients > options.users:
        parser.error("every client needs a user of its own")
    if options.write and options.only:
        parser.error("--write needs all systems")
    results = measure(options)
    text = json.dumps(results, indent=2) + "\n"
    if options.json:
        options.json.write_text(text, encoding="utf-8")
    if options.write:
        RESULTS.write_text(text, encoding="utf-8")
        report.publish()
    print(figures.table(results))
    return int(any("error" in found for found in results["systems"].values()))


def measure(options: argparse.Namespace) -> dict[str, Any]:
    """Put the load on the systems, one after the other."""
    names = [name for name in SYSTEMS if not options.only or name in options.only]
    for name in names:
        with contextlib.suppress(run.InstallError):  # reported when its turn comes
            run.interpreter(SYSTEMS[name])
    scale = Scale(
        users=options.users, memories=options.memories, large=options.memories,
        dimensions=options.dimensions, queries=10 * options.users, large_queries=0, writes=0,
        batches=0, clients=options.clients,
    )  # fmt: skip
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="load-")))
        dsn = options.dsn
        if dsn is None:
            home = tempfile.TemporaryDirectory(prefix="pgrecall-load-")
            server = EmbeddedServer(stack.enter_context(home), settings=SETTINGS)
            dsn = stack.enter_context(server).dsn
        write_data(folder, scale, 1)
        return {
            "format": run.FORMAT,
            "measured_at": datetime.now(UTC).isoformat(timespec="seconds"),
            "load": {
                "clients": options.clients, "processes": options.processes,
                "workers": options.workers, "rate": options.rate,
                "seconds": 60 * options.minutes, "warm_up": options.warm_up,
                "users": options.users, "memories": options.memories,
                "dimensions": options.dimensions,
            },
            "machine": run.machine() | {"load_average": round(os.getloadavg()[1], 1)},
            "server": run.described(dsn, (*SETTINGS, "work_mem", "jit")),
            "systems": {name: under_load(name, dsn, folder, options) for name in names},
        }  # fmt: skip


def under_load(name: str, dsn: str, folder: Path, options: argparse.Namespace) -> dict[str, Any]:
    """Put the load on one system in a database of its own; an error is a result, too."""
    print(f"{name:20}", end="", file=sys.stderr, flush=True)
    try:
        python = run.interpreter(SYSTEMS[name])
        with run.database(dsn) as own, psycopg.connect(own, autocommit=True) as db:
            host = Host(python, name, own, folder, options)
            found = host.part("fill").result()
            db.execute("vacuum analyze")
            db.execute("checkpoint")
            found |= loaded(host, db, options, has_background=found.pop("has_background"))
    except (run.InstallError, RuntimeError) as error:
        found = {"error": str(error)}
    said = found.get("error") or f"{found['turns_per_second']} turns/s"
    print(said, file=sys.stderr, flush=True)
    return found


def loaded(
    host: Host, db: psycopg.Connection[Any], options: argparse.Namespace, *, has_background: bool
) -> dict[str, Any]:
    """Run clients and background beside the server, and return all figures."""
    parts = [host.part("clients", number) for number in range(options.processes)]
    workers = range(options.workers if has_background else 0)
    work = [host.part("background", number) for number in workers]
    everyone = [*parts, *work]
    try:
        for part in everyone:
            part.wait_until_ready()
        begin = time.monotonic() + 0.5
        measured = begin + options.warm_up
        until = measured + 60 * options.minutes
        for part in everyone:
            part.start(begin, measured, until)
        time.sleep(max(0.0, measured - time.monotonic()))
        server = ServerUse(db)
        time.sleep(max(0.0, until - time.monotonic()))
        found = server.since()
        ended = [part.result() for part in parts]
        found |= together([part.result() for part in work])
    finally:
        for part in everyone:
            part.end()
    calls: dict[str, list[Sequence[float]]] = {}
    for result in ended:
        for name, spans in result["calls"].items():
            calls.setdefault(name, []).extend(spans)
    failures = [text for result in ended for text in result["failures"]]
    return (
        found
        | figures.summary(calls, measured, until)
        | {
            "failed": len(failures),
            "failures": sorted({text[:200] for text in failures})[:5],
            "client_ms": round(sum(result["client_ms"] for result in ended)),
        }
    )


def together(works: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return what several workers have done, and what waits after the last of them."""
    if not works:
        return {}
    done: Counter[str] = Counter()
    failed: Counter[str] = Counter()
    for work in works:
        done.update(work["done"])
        failed.update(work["failed"])
    return {
        "jobs": done.total(), "done": done, "jobs_failed": failed,
        "last_error": next((work["last_error"] for work in works if work["last_error"]), None),
        "jobs_waiting": min(work["jobs_waiting"] for work in works),
    }  # fmt: skip


# The processes


class Host:
    """Starts load_host.py for one system."""

    def __init__(
        self, python: Path, name: str, dsn: str, folder: Path, options: argparse.Namespace
    ) -> None:
        self._command = [
            python, HERE / "load_host.py", name, "--dsn", dsn, "--data", folder,
            "--seconds", str(options.warm_up + 60 * options.minutes),
            "--clients", str(options.clients), "--processes", str(options.processes),
            "--rate", str(options.rate),
        ]  # fmt: skip
        self._folder = folder

    def part(self, name: str, number: int = 0) -> Part:
        """Start a part in a process."""
        out = self._folder / f"{name}-{number}.json"
        out.unlink(missing_ok=True)
        command = [*self._command, "--number", str(number), "--out", out]
        return Part([*command[:3], name, *command[3:]], out)


class Part:
    """A process of load_host.py; its errors go to a file, which nobody has to read meanwhile."""

    def __init__(self, command: Sequence[Any], out: Path) -> None:
        self._out = out
        self._errors = out.with_suffix(".txt")
        with self._errors.open("w") as errors:
            self._process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, text=True,
                env={**os.environ, "TMPDIR": str(out.parent)},  # also drop files that it leaves
            )  # fmt: skip

    def wait_until_ready(self) -> None:
        """Wait until it has connected."""
        assert self._process.stdout is not None
        if self._process.stdout.readline().strip() != "ready":
            self.result()

    def start(self, *times: float) -> None:
        """Tell it when to begin and to end."""
        assert self._process.stdin is not None
        self._process.stdin.write(" ".join(map(repr, times)) + "\n")
        self._process.stdin.flush()

    def result(self) -> dict[str, Any]:
        """Wait for its end, and return its result."""
        if self._process.wait():
            last = self._errors.read_text(encoding="utf-8").strip().splitlines() or ["no message"]
            raise RuntimeError(f"failed: {last[-1]}")
        found: dict[str, Any] = json.loads(self._out.read_text(encoding="utf-8"))
        return found

    def end(self) -> None:
        """End it, if it still runs, and close its pipes."""
        if self._process.poll() is None:
            self._process.kill()
        with contextlib.suppress(BrokenPipeError):
            self._process.communicate()


# The server


class ServerUse:
    """Reads the counters of a server, and returns what was added since."""

    def __init__(self, db: psycopg.Connection[Any]) -> None:
        self._db = db
        self._before = self._now()

    def since(self) -> dict[str, Any]:
        """Return what it has used since this object was made."""
        now = self._now()
        return {
            name: None if value is None or self._before[name] is None
            else round(value - self._before[name])
            for name, value in now.items()
        } | self._sweeps()  # fmt: skip

    def _now(self) -> dict[str, Any]:
        (wal, checkpoints, autovacuums, pids) = self._row(
            "select (pg_current_wal_insert_lsn() - '0/0')::bigint,"
            " (select num_timed + num_requested from pg_stat_checkpointer),"
            " (select sum(autovacuum_count + autoanalyze_count) from pg_stat_all_tables),"
            " array(select pid from pg_stat_activity where application_name = %s)",
            BACKGROUND,
        )
        with contextlib.suppress(OSError):
            return {
                "server_ms": server_ms(self._db.info.backend_pid),
                "background_ms": sum(process_ms(pid) for pid in pids) if pids else None,
                "wal_bytes": int(wal), "checkpoints": checkpoints, "autovacuums": autovacuums,
            }  # fmt: skip
        return {"server_ms": None, "background_ms": None, "wal_bytes": int(wal),
                "checkpoints": checkpoints, "autovacuums": autovacuums}  # fmt: skip

    def _sweeps(self) -> dict[str, Any]:
        """Return how many tasks of pgrecall's maintenance have run, where it is installed."""
        (table,) = self._row("select to_regclass('recall.maintenance_tasks')")
        if table is None:
            return {}
        (count,) = self._row(
            "select count(*) from recall.maintenance_tasks"
            " where last_run_at > now() - interval '2 minutes'"
        )
        return {"sweeps": count}

    def _row(self, query: str, *values: Any) -> Any:
        row = self._db.execute(query, values).fetchone()
        assert row is not None
        return row


def process_ms(pid: int) -> float:
    """Return the processor milliseconds of a process with one thread, or 0 if it has ended."""
    try:
        return int(Path(f"/proc/{pid}/schedstat").read_text(encoding="ascii").split()[0]) / 1e6
    except (FileNotFoundError, ProcessLookupError):
        return 0.0


def server_ms(backend: int) -> float:
    """Return the processor milliseconds of all processes of a server, ended ones included."""
    parent = int(_stat(backend)[1])
    user, system, ended_user, ended_system = (int(part) for part in _stat(parent)[11:15])
    tick = 1000 / os.sysconf("SC_CLK_TCK")
    return tick * (user + system + ended_user + ended_system) + sum(map(process_ms, _of(parent)))


def _stat(pid: int) -> list[str]:
    """Return the fields of a process after its name, from its state on."""
    return Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()


def _of(parent: int) -> Iterator[int]:
    """Yield the children of a process."""
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if int(_stat(int(folder.name))[1]) == parent:
                yield int(folder.name)


if __name__ == "__main__":
    sys.exit(main())
