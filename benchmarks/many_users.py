"""Compare every public function between databases of 1,000 and of up to a million users.

Each database has one user with something of everything, as the tests make him, beside others with
ten memories and twenty messages each. Every call runs in each database in turns and is rolled back.
Times are processor times of the server process. The program also compares first calls of a
connection, their relation locks, and a vacuum of what a thousand turns of random users leave.

    python benchmarks/many_users.py [--sizes 1000 10000 100000] [--dimensions 64] [--write]

A million users take 40 minutes and 35 GB. With `--dsn` and `--keep` the databases stay for the next
run.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import math
import statistics
import sys
import tempfile
import uuid
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import psycopg
from pgvector.psycopg import register_vector
from psycopg import sql

import growth
import pgrecall.schema
from pgrecall.embedded import EmbeddedServer

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "tests"))

from support import everyfunction  # noqa: E402

SIZES = (1_000, 10_000, 100_000)
MEMORIES, MESSAGES = 10, 20  # of each user
CHUNK = 500  # users of one transaction
ROUNDS, WARM_UP, LEAST = 15, 3, 3
FLAT = 1.2  # times the time of the smallest database
LITTLE = 0.5  # milliseconds
ENOUGH = 2_000  # milliseconds of one call in a database
TURNS = 1_000  # of random users, before a vacuum
FIRST = ("append_messages", "compile_context everything", "search", "search_messages", "remember")
PLOTTED = (*FIRST, "forget_user")
Figures = dict[str, dict[str, list[float]]]  # by what and call, one of each database
Connection = psycopg.Connection[Any]


@contextlib.contextmanager
def databases(
    dsn: str | None, sizes: list[int], dimensions: int, *, keep: bool = False
) -> Iterator[dict[int, str]]:
    """Yield the DSNs of databases with so many users, by number of users.

    Without a DSN, a temporary server has the databases. With `keep` they stay for the next run.
    """
    with contextlib.ExitStack() as stack:
        if dsn is None:
            home = stack.enter_context(tempfile.TemporaryDirectory(prefix="pgrecall-bench-"))
            dsn = stack.enter_context(EmbeddedServer(home)).start()
        made: dict[int, str] = {}
        smaller = "template1"
        for size in (0, *sorted(sizes)):
            name = f"many_users_{dimensions}_{size}"
            with psycopg.connect(dsn, autocommit=True) as admin:
                known = admin.execute("select from pg_database where datname = %s", [name])
                if known.fetchone() is None:
                    make(admin, name, smaller, (max(made, default=0), size), dimensions)
            made[size] = psycopg.conninfo.make_conninfo(dsn, dbname=name)
            if not keep:
                stack.callback(drop, dsn, name)
            smaller = name
        yield made


def drop(dsn: str, name: str) -> None:
    """Drop a database."""
    with psycopg.connect(dsn, autocommit=True) as admin:
        query = sql.SQL("drop database if exists {} with (force)")
        admin.execute(query.format(sql.Identifier(name)))


def make(
    admin: Connection, name: str, smaller: str, users: tuple[int, int], dimensions: int
) -> None:
    """Make a database of a smaller one: install the schema, or add the users of a range.

    It gets its name at the end, so that the next run does not take an unfinished one for it.
    """
    unfinished = f"{name}_unfinished"
    for statement in ("drop database if exists {0} with (force)",
                      "create database {0} template {1} strategy file_copy"):  # fmt: skip
        query = sql.SQL(statement).format(sql.Identifier(unfinished), sql.Identifier(smaller))
        admin.execute(query)
    dsn = psycopg.conninfo.make_conninfo(admin.info.dsn, dbname=unfinished)
    if users[1]:
        fill(dsn, *users, dimensions)
    else:
        with psycopg.connect(dsn, autocommit=True) as db:
            pgrecall.schema.install(db, embedding_dimensions=dimensions, share_roles=True)
    admin.execute(
        sql.SQL("alter database {} rename to {}").format(
            sql.Identifier(unfinished), sql.Identifier(name)
        )
    )


def fill(dsn: str, first: int, last: int, dimensions: int) -> None:
    """Add the users with these numbers, by two connections."""
    chunks = [(at, min(at + CHUNK, last)) for at in range(first, last, CHUNK)]

    def add(part: list[tuple[int, int]]) -> None:
        with psycopg.connect(dsn, autocommit=True) as db:
            db.execute(growth.FILL.format(dimensions=dimensions).encode())
            db.execute(growth.TALK)
            for start, end in part:
                users = [user_of(number) for number in range(start, end)]
                with db.transaction():
                    db.execute("select pg_temp.fill(%s, %s, %s)",
                               [users, MEMORIES, start * 31 + 17])  # fmt: skip
                    db.execute("select pg_temp.talk(%s, %s)", [users, MESSAGES])

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(add, (chunks[::2], chunks[1::2])))
    with psycopg.connect(dsn, autocommit=True) as db:
        db.execute("vacuum analyze")
        db.execute("checkpoint")


def user_of(number: int) -> uuid.UUID:
    """Return the id of a user by number."""
    return uuid.uuid5(uuid.NAMESPACE_OID, str(number))


class Crowd:
    """One database: its world, and a connection that calls."""

    def __init__(self, dsn: str, size: int) -> None:
        self.dsn = dsn
        self.size = size
        self.db = self._connect()
        self.db.execute("delete from recall.jobs")  # of an earlier run
        self.world = everyfunction.furnish(self.db, f"mark{uuid.uuid4().hex[:6]}")
        self.world["later"] = None  # a sweep finds what is due now
        self.db.execute("vacuum analyze")

    def _connect(self) -> Connection:
        db = psycopg.connect(self.dsn, autocommit=True)
        db.execute("set max_parallel_workers_per_gather = 0")
        register_vector(db)
        return db

    def timed(self, call: everyfunction.Call, db: Connection | None = None) -> float:
        """Return the processor milliseconds of a call, which is rolled back."""
        db = db or self.db
        with db.transaction(force_rollback=True):
            before = growth.clock(db)
            db.execute(call.query.encode(), self.world, prepare=True).fetchall()
            return growth.clock(db) - before

    def first(self, call: everyfunction.Call) -> tuple[float, int]:
        """Return the milliseconds of a connection's first call, and its relation locks."""
        with self._connect() as db, db.transaction(force_rollback=True):
            before = growth.clock(db)
            db.execute(call.query.encode(), self.world).fetchall()
            after = growth.clock(db)
            row = db.execute(
                "select count(*) from pg_locks"
                " where pid = pg_backend_pid() and locktype = 'relation'"
            ).fetchone()
        return after - before, row[0] if row else 0

    def vacuumed(self) -> float:
        """Return the milliseconds of a vacuum after turns of random users."""
        for number in range(TURNS):
            user = user_of(number * 7919 % self.size)
            self.db.execute(
                "select count(*) from recall.append_messages(%s, (select s.session_id"
                " from recall.sessions as s where s.user_id = %s limit 1), %s)",
                [user, user, growth.TURN],
            ).fetchall()
        before = growth.clock(self.db)
        for table in ("sessions", "jobs", "conversation_history"):
            self.db.execute(f"vacuum (parallel 0, index_cleanup on) recall.{table}".encode())
        return growth.clock(self.db) - before


def measure(dsns: dict[int, str]) -> Figures:
    """Return the median milliseconds of every call, and all else that is compared."""
    crowds = [Crowd(dsn, size) for size, dsn in dsns.items() if size]
    found: Figures = {"ms": {}, "first": {}, "locks": {}, "vacuum": {}}
    for call in everyfunction.CALLS:
        times: list[list[float]] = [[] for _ in crowds]
        for _ in range(WARM_UP + ROUNDS):
            for crowd, own in zip(crowds, times, strict=True):
                if len(own) < WARM_UP + LEAST or sum(own) < ENOUGH:
                    own.append(crowd.timed(call))
        found["ms"][str(call)] = [statistics.median(own[WARM_UP:]) for own in times]
        print(call, *(f"{figure:.2f}" for figure in found["ms"][str(call)]), file=sys.stderr)
        if str(call) in FIRST:
            firsts = [[crowd.first(call) for _ in range(5)] for crowd in crowds]
            found["first"][str(call)] = [statistics.median(f[0] for f in own) for own in firsts]
            found["locks"][str(call)] = [own[-1][1] for own in firsts]
    found["vacuum"]["after turns of random users"] = [crowd.vacuumed() for crowd in crowds]
    return found


def ratio(figures: list[float]) -> float:
    """Return the last figure by the first."""
    return figures[-1] / figures[0] if figures[0] else math.nan


def table(found: Figures, sizes: list[int]) -> str:
    """Return Markdown tables: of the calls those that grow, unless they take very little."""
    head = "".join(f" {size:,} |" for size in sizes) + " ratio |"
    lines = []
    for what, figures in found.items():
        shown = {
            name: own
            for name, own in figures.items()
            if what != "ms" or (ratio(own) > FLAT and max(own) > LITTLE)
        }
        lines += [f"| {what} |{head}", "|---" * (len(sizes) + 2) + "|"]
        for name, own in sorted(shown.items(), key=lambda item: -ratio(item[1])):
            cells = " | ".join(f"{figure:.2f}" for figure in own)
            lines.append(f"| {name} | {cells} | {ratio(own):.2f} |")
        lines.append("")
    ratios = [ratio(own) for own in found["ms"].values() if max(own) > LITTLE]
    flat = sum(one <= FLAT for one in ratios)
    lines.append(f"{flat} of {len(ratios)} calls above {LITTLE} ms within {FLAT}; median"
                 f" {statistics.median(ratios):.2f}")  # fmt: skip
    return "\n".join(lines)


def publish(found: Figures, sizes: list[int]) -> None:
    """Write results and plot."""
    text = json.dumps({"sizes": sizes} | found, indent=2)
    (HERE / "many_users.json").write_text(text + "\n", encoding="utf-8")
    points = [
        {"size": size, "p50": {name: found["ms"][name][place] for name in PLOTTED}}
        for place, size in enumerate(sizes)
    ]
    svg = growth.plot("ms of the server, by users", points)
    (HERE / "many_users.svg").write_text(svg, encoding="utf-8")


def main() -> None:
    """Fill, measure, print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--dsn", help="a superuser's DSN of a server with pgvector")
    parser.add_argument("--sizes", type=int, nargs="+", default=list(SIZES), help="users")
    parser.add_argument("--dimensions", type=int, default=64)
    parser.add_argument("--keep", action="store_true", help="leave the databases on the server")
    parser.add_argument("--fill", action="store_true", help="only fill the databases")
    parser.add_argument("--write", action="store_true", help="publish the results")
    options = parser.parse_args()
    everyfunction.DIMENSIONS = options.dimensions
    keep = options.keep or options.fill
    with databases(options.dsn, options.sizes, options.dimensions, keep=keep) as dsns:
        if options.fill:
            return
        found = measure(dsns)
        sizes = sorted(options.sizes)
        if options.write:
            publish(found, sizes)
        print(table(found, sizes))


if __name__ == "__main__":
    main()
