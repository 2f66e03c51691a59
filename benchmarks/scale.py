"""Measure what the proxy before shards adds to a call, on 1, 2 and 4 shards of one machine.

All databases are on one server, so more shards cannot give more throughput here. The benchmark
reports processor time of the backends, on the proxy and on the shards. The same calls run on a
shard without a proxy, too. It also reports the median time of a call, which waits for the
processor on a busy machine, and how evenly users are spread.

    python benchmarks/scale.py --dsn DSN [--users 200] [--rounds 400] [--json]

The server needs PL/Proxy, and must run on this machine.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import random
import statistics
import sys
import time
import uuid
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import psycopg
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg.types.json import Jsonb

import pgrecall.schema
from pgrecall.cli._shards import init_shards
from target import process_ms

SHARDS = (1, 2, 4)
MEMORIES, MESSAGES = 30, 20
WARM_UP = 60

Connection = psycopg.Connection[Any]


@contextlib.contextmanager
def databases(dsn: str, count: int) -> Iterator[tuple[str, list[str]]]:
    """Yield the DSN of a proxy and those of its shards, and drop all afterwards."""
    run = f"scale_{uuid.uuid4().hex[:8]}"
    names = [f"{run}_{number}" for number in range(count)]
    with psycopg.connect(dsn, autocommit=True) as admin:
        try:
            for name in (run, *names):
                admin.execute(f"create database {name}")
            for name in names:
                with psycopg.connect(dsn, dbname=name) as conn:
                    pgrecall.schema.install(
                        conn, embedding_dimensions=8, share_roles=True, role_prefix="scale"
                    )
            parts = {k: v for k, v in conninfo_to_dict(dsn).items() if k in ("host", "port")}
            with psycopg.connect(dsn, dbname=run, autocommit=True) as proxy:
                init_shards(
                    proxy, {name[-1]: make_conninfo("", **parts, dbname=name) for name in names}
                )
            yield make_conninfo(dsn, dbname=run), [make_conninfo(dsn, dbname=n) for n in names]
        finally:
            for name in (run, *names):
                admin.execute(f"drop database if exists {name} with (force)")


def backends(conn: Connection, own: int) -> list[int]:
    """Return the backends of the shards that serve the proxy."""
    return [
        pid for (pid,) in conn.execute(
            "select a.pid from pg_stat_activity as a where a.backend_type = 'client backend'"
            " and a.datname ~ '^scale_.*_[0-9]$' and a.pid <> %s", [own]).fetchall()
    ]  # fmt: skip


def filled(conn: Connection, count: int) -> list[tuple[uuid.UUID, uuid.UUID]]:
    """Make users with a session, memories and messages."""
    made = []
    for number in range(count):
        user = uuid.uuid4()
        (session,) = conn.execute("select recall.open_session(%s, 'm')", [user]).fetchone()
        memories = [{"content": f"likes thing number {n} of {number}"} for n in range(MEMORIES)]
        messages = [{"role": "user", "content": f"message number {n}"} for n in range(MESSAGES)]
        for function, rows in (("ingest_memories", memories), ("append_messages", messages)):
            conn.execute(
                f"select recall.{function}(%s, %s, %s)".encode(), [user, session, Jsonb(rows)]
            )
        made.append((user, session))
    return made


CALLS: dict[str, Callable[[Connection, uuid.UUID, uuid.UUID], object]] = {
    "get_session": lambda db, user, session: db.execute(
        "select * from recall.get_session(%s, %s)", [user, session]).fetchall(),
    "append_messages": lambda db, user, session: db.execute(
        "select * from recall.append_messages(%s, %s, %s)",
        [user, session, Jsonb([{"role": "user", "content": "one more"}])]).fetchall(),
    "search": lambda db, user, _: db.execute(
        "select * from recall.search(%s, 'thing number 7')", [user]).fetchall(),
    "compile_context": lambda db, user, session: db.execute(
        "select recall.compile_context(%s, %s, 'thing number 5')", [user, session]).fetchall(),
}  # fmt: skip


def measure(
    db: Connection, users: list[tuple[uuid.UUID, uuid.UUID]], rounds: int, *, is_proxy: bool
) -> dict[str, dict[str, float]]:
    """Return milliseconds of each call: processor time of both sides, and the median time."""
    found = {}
    chance = random.Random(1)
    for name, send in CALLS.items():
        for user in chance.choices(users, k=WARM_UP):
            send(db, *user)
        own = [db.info.backend_pid]
        far = backends(db, own[0]) if is_proxy else []
        before, far_before = sum(map(process_ms, own)), sum(map(process_ms, far))
        times = []
        for user in chance.choices(users, k=rounds):
            began = time.perf_counter()
            send(db, *user)
            times.append(time.perf_counter() - began)
        found[name] = {
            "own_ms": (sum(map(process_ms, own)) - before) / rounds,
            "shards_ms": (sum(map(process_ms, far)) - far_before) / rounds,
            "median_ms": statistics.median(times) * 1000,
        }
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n\n")[0])
    parser.add_argument("--dsn", required=True, help="a superuser's DSN of a server with PL/Proxy")
    parser.add_argument("--users", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=400, help="calls of each function")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()

    results: dict[str, Any] = {}
    for count in SHARDS:
        with databases(given.dsn, count) as (proxy, shards):
            if count == 1:
                with psycopg.connect(shards[0], autocommit=True) as db:
                    users = filled(db, given.users)
                    results["one server"] = {"calls": measure(db, users, given.rounds,
                                                              is_proxy=False)}  # fmt: skip
            with psycopg.connect(proxy, autocommit=True) as db:
                users = filled(db, given.users)
                homes = Counter(
                    db.execute("select recall_proxy.shard_of(%s)", [user]).fetchone()[0]
                    for user, _ in users
                )
                results[f"{count} behind a proxy"] = {
                    "calls": measure(db, users, given.rounds, is_proxy=True),
                    "users": [homes[number] for number in range(count)],
                }
    if given.json:
        json.dump(results, sys.stdout, indent=2)
        return
    print("milliseconds of processor time per call: own backend + backends of shards (median time)")
    for name, result in results.items():
        print(f"{name}, users per shard {result.get('users', '-')}")
        for call, times in result["calls"].items():
            print(f"  {call:16} {times['own_ms']:6.2f} + {times['shards_ms']:5.2f}"
                  f"  ({times['median_ms']:6.2f})")  # fmt: skip


if __name__ == "__main__":
    main()
