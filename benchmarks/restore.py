"""Time the restore routes of docs/operations/backup.md on embedded servers.

The scripts are those of the page. Times are processor seconds of the programs and of the servers,
without waiting, since a shared machine makes wall time meaningless. Disks are not measured.

    python benchmarks/restore.py [--memories 20000] [--dimensions 384]
    python benchmarks/restore.py --pg-cron DSN

The second form times the copy of a database with pg_cron, on a server of this machine that has it
and no schema yet.
"""

from __future__ import annotations

import argparse
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psycopg

import growth
import pgrecall.schema
from pgrecall.embedded import EmbeddedServer, _Cluster

HERE = Path(__file__).resolve().parent
PAGE = (HERE.parent / "docs" / "operations" / "backup.md").read_text(encoding="utf-8")


def scripts(heading: str) -> list[str]:
    """Return the shell scripts of a section of the page."""
    (section,) = re.findall(rf"(?ms)^## {re.escape(heading)}\n(.*?)(?=^## |\Z)", PAGE)
    return re.findall(r"(?ms)^```sh\n(.*?)^```", section)


def used(data: Path) -> float:
    """Return the processor seconds of a server, by its folder, and all that it has started."""
    return used_by((data / "postmaster.pid").read_text().split()[0])


def used_by(postmaster: str) -> float:
    """Return the processor seconds of a server, by its process number, and its children."""
    ticks = 0
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            words = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if stat.parent.name == postmaster:
            ticks += sum(int(word) for word in words[11:15])
        elif words[1] == postmaster:
            ticks += int(words[11]) + int(words[12])
    return ticks / os.sysconf("SC_CLK_TCK")


def parent(conn: psycopg.Connection[Any]) -> str:
    """Return the process number of the server of a connection, on this machine."""
    stat = Path(f"/proc/{conn.info.backend_pid}/stat").read_text()
    return stat.rpartition(")")[2].split()[1]


def children() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


class Bench:
    """Servers, a filled database, and the folder where scripts run."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.path = os.pathsep.join(
            [str(_Cluster(folder)._programs), str(Path(sys.executable).parent), os.environ["PATH"]]  # noqa: SLF001
        )

    def run(self, script: str, *, may_fail: bool = False, **names: str) -> None:
        done = subprocess.run(
            ["bash", "-c" if may_fail else "-ec", script], cwd=self.folder, capture_output=True,
            text=True, check=False, env={**os.environ, "PATH": self.path, **names},
        )  # fmt: skip
        if done.returncode and not may_fail:
            raise SystemExit(done.stdout + done.stderr)

    def timed(self, route: str, work: Callable[[], None], *homes: Path) -> None:
        before = children() + sum(used(home / "data") for home in homes)
        started = time.monotonic()
        work()
        spent = children() + sum(used(home / "data") for home in homes) - before
        print(f"| {route} | {spent:.1f} | {time.monotonic() - started:.1f} |", flush=True)


def database(server: EmbeddedServer, name: str) -> str:
    with psycopg.connect(server.dsn, autocommit=True) as conn:
        conn.execute(f"create database {name}".encode())
    return psycopg.conninfo.make_conninfo(server.dsn, dbname=name)


def main() -> None:
    """Fill a database, and restore it by each route."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--memories", type=int, default=20_000)
    options.add_argument("--dimensions", type=int, default=384)
    options.add_argument("--pg-cron", metavar="DSN", help="Only that route, on this local server.")
    args = options.parse_args()
    if args.pg_cron:
        copy_from_pg_cron(args.pg_cron, args.memories, args.dimensions)
        return
    root = Path(tempfile.mkdtemp(prefix="pgrecall-restore-"))
    root.chmod(0o755)
    archive = root / "archive"
    archive.mkdir()
    archive.chmod(0o777)
    settings = {"archive_mode": "on", "archive_command": f"cp %p {archive}/%f"}
    bench = Bench(root)
    old_home, new_home, third_home = (Path(tempfile.mkdtemp(prefix="pgrecall-")) for _ in range(3))
    restored = _Cluster(Path(tempfile.mkdtemp(prefix="pgrecall-")))
    try:
        with EmbeddedServer(old_home, settings=settings) as server:
            old = database(server, "app")
            with psycopg.connect(old, autocommit=True) as conn:
                pgrecall.schema.install(conn, embedding_dimensions=args.dimensions)
                filled = growth.Growth(conn, args.dimensions)
                filled.grow(args.memories)
                user = conn.execute("select recall.user_id('ada')").fetchone()[0]  # type: ignore[index]
                filled.fill([user], 50)
                conn.execute("drop table floor")
                (size,) = conn.execute(
                    "select pg_size_pretty(pg_database_size(current_database()))"
                ).fetchone() or ("?",)
                messages = filled.others // growth.EACH * growth.SAID
                print(f"{args.memories} memories of {args.dimensions} dimensions, "
                      f"{messages} messages, {size}\n")  # fmt: skip
            print("| route | processor seconds | seconds |\n|---|---|---|")
            copy = database(server, "copy")
            bench.timed(
                "same cluster",
                lambda: bench.run(scripts("Into the same cluster")[0], OLD=old, NEW=copy),
                old_home,
            )
            with EmbeddedServer(new_home) as other:
                new = database(other, "app")
                fresh, forgotten = scripts("Into a fresh cluster")
                bench.timed(
                    "fresh cluster", lambda: bench.run(fresh, OLD=old, NEW=new), old_home, new_home
                )
                target = empty(other, args.dimensions)
                bench.timed(
                    "one user of 50 memories",
                    lambda: bench.run(scripts("One user")[0], OLD=old, NEW=target),
                    old_home, new_home,
                )  # fmt: skip
            with EmbeddedServer(third_home) as other:
                new = database(other, "app")
                bench.timed(
                    "fresh cluster, roles forgotten",
                    lambda: bench.run(forgotten, may_fail=True, OLD=old, NEW=new),
                    old_home, third_home,
                )  # fmt: skip
            restored.prepare_folder()
            keep, replay = scripts("Point-in-time recovery")
            bench.timed(
                "base backup",
                lambda: restored._run("pg_basebackup", "-d", server.dsn, "-D", str(restored.data),  # noqa: SLF001
                                      "--checkpoint=fast"),
                old_home,
            )  # fmt: skip
            with psycopg.connect(old, autocommit=True) as conn:
                conn.execute("select recall.forget_user(%s)", [user])
                conn.execute("select pg_switch_wal()")
            bench.run(keep, OLD=old)
        signal = restored.data / "recovery.signal"
        signal.touch()
        shutil.chown(signal, restored.data.stat().st_uid, restored.data.stat().st_gid)

        def recover() -> None:
            restored.start({"restore_command": f"cp {archive}/%f %p",
                            "recovery_target_action": "promote"})  # fmt: skip
            dsn = restored.dsn("app")
            for _ in range(600):
                with psycopg.connect(dsn) as conn:
                    if conn.execute("select pg_is_in_recovery()").fetchone() == (False,):
                        break
                time.sleep(0.1)
            bench.run(replay, NEW=dsn)

        started, before = time.monotonic(), children()
        recover()
        spent = children() - before + used(restored.data)
        print(f"| recovery and erasures again | {spent:.1f} | {time.monotonic() - started:.1f} |")
    finally:
        restored.stop()
        for home in (root, old_home, new_home, third_home, restored.data.parent):
            shutil.rmtree(home, ignore_errors=True)


def copy_from_pg_cron(dsn: str, memories: int, dimensions: int) -> None:
    """Copy the schema of the database that pg_cron lives in into another one of its server."""
    with tempfile.TemporaryDirectory() as folder, psycopg.connect(dsn, autocommit=True) as admin:
        name = admin.execute("show cron.database_name").fetchone()[0]  # type: ignore[index]
        old = psycopg.conninfo.make_conninfo(dsn, dbname=name)
        new = psycopg.conninfo.make_conninfo(dsn, dbname="restore_copy")
        admin.execute("create database restore_copy")
        try:
            with psycopg.connect(old, autocommit=True) as conn:
                conn.execute("create extension if not exists pg_cron")
                pgrecall.schema.install(conn, embedding_dimensions=dimensions, share_roles=True)
                growth.Growth(conn, dimensions).grow(memories)
                conn.execute("drop table floor")
            bench, postmaster = Bench(Path(folder)), parent(admin)
            started, before = time.monotonic(), children() + used_by(postmaster)
            bench.run(scripts("A database with pg_cron")[0], OLD=old, NEW=new)
            spent = children() + used_by(postmaster) - before
            print(f"| a database with pg_cron | {spent:.1f} | {time.monotonic() - started:.1f} |")
        finally:
            admin.execute("drop database restore_copy with (force)")
            with psycopg.connect(old, autocommit=True) as conn:
                pgrecall.schema.uninstall(conn)
                conn.execute("drop extension pg_cron")


def empty(server: EmbeddedServer, dimensions: int) -> str:
    """Return the DSN of a database with an empty schema."""
    dsn = database(server, "empty")
    with psycopg.connect(dsn, autocommit=True) as conn:
        pgrecall.schema.install(
            conn, embedding_dimensions=dimensions, role_prefix="other", share_roles=True
        )
    return dsn


if __name__ == "__main__":
    main()
