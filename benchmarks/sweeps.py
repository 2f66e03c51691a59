"""Sweeps over many memories of which few are due, and how long they make a writer wait.

python benchmarks/sweeps.py [--memories 1000000] [--due 1000] [--busy 200000]
"""

from __future__ import annotations

import argparse
import threading
import time
import uuid
from datetime import UTC, datetime, timedelta
from typing import Any

import psycopg

from target import database

FILL = """
insert into recall.memory_store (
    user_id, memory_id, tier, scope, kind, content, content_hash, token_count, search_vector,
    provenance, source, confidence, importance, observed_at, created_at, updated_at, expires_at)
select md5('u' || n %% %(users)s)::uuid, md5('m' || n)::uuid, 'session', 'global', 'fact',
       'memory ' || n, sha256(n::text::bytea), 3, '', 'fact', 'import', 0.5, 0.6, now(), now(),
       now(), now() + case when n <= %(due)s then interval '1 day'
                           when n <= %(due)s + %(busy)s then interval '10 days'
                           else interval '1 year' end
  from generate_series(1, %(memories)s) as n
"""


def batches(db: psycopg.Connection[Any], sweep: str, at: datetime | None) -> list[float]:
    """Run a sweep until nothing is left; return the seconds of its batches, and print them."""
    seconds, done = [], 0
    while True:
        started = time.perf_counter()
        row = db.execute(f"select done, more from recall.{sweep}(p_as_of => %s)".encode(), [at])
        count, more = row.fetchone() or (0, False)
        seconds.append(time.perf_counter() - started)
        done += count
        if not more:
            break
    print(f"| {sweep} | {done} | {len(seconds)} | {max(seconds):.2f} | {sum(seconds):.2f} |")
    return seconds


def main() -> None:
    """Fill, sweep what is due, then sweep much while somebody writes."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--dsn", help="a superuser's DSN (default: a temporary embedded server)")
    parser.add_argument("--memories", type=int, default=1_000_000)
    parser.add_argument("--due", type=int, default=1000)
    parser.add_argument("--busy", type=int, default=200_000)
    asked = parser.parse_args()
    with database(asked.dsn, dimensions=4) as db:
        sizes = {"users": asked.memories // 50, "memories": asked.memories, "due": asked.due,
                 "busy": asked.busy}  # fmt: skip
        db.execute(
            "insert into recall.users (user_id, created_at, active_memory_count)"
            " select md5('u' || n)::uuid, now(), 50"
            " from generate_series(0, %(users)s - 1) as n", sizes,
        )  # fmt: skip
        db.execute(FILL, sizes)
        db.execute(
            "update recall.memory_store set access_count = 3, relevance_accumulator = 3,"
            " last_accessed_at = now() where (user_id, memory_id) in (select"
            " md5('u' || n %% %(users)s)::uuid, md5('m' || n)::uuid"
            " from generate_series(%(memories)s - %(due)s + 1, %(memories)s) as n)", sizes,
        )  # fmt: skip
        db.execute("analyze")
        now = datetime.now(UTC)
        print(f"{asked.memories} memories of {sizes['users']} users\n")
        print("| sweep | done | batches | slowest, s | in all, s |\n|---|---|---|---|---|")
        batches(db, "promote_memories", None)
        batches(db, "expire_memories", now + timedelta(days=2))
        batches(db, "decay_memories", now + timedelta(days=2))

        waits: list[float] = []
        stop = threading.Event()

        def write() -> None:
            with psycopg.connect(db.info.dsn, autocommit=True) as conn:
                number = 0
                while not stop.is_set():
                    number += 1
                    user = uuid.UUID(
                        conn.execute(
                            "select md5('u' || %s)", [number * 7919 % sizes["users"]]
                        ).fetchone()[0]
                    )  # type: ignore[index]
                    started = time.perf_counter()
                    conn.execute("select recall.remember(%s, %s)", [user, f"told {number}"])
                    waits.append(time.perf_counter() - started)

        writer = threading.Thread(target=write)
        writer.start()
        time.sleep(3)
        alone = sorted(waits)
        count = len(alone)
        batches(db, "expire_memories", now + timedelta(days=11))
        stop.set()
        writer.join()
        beside = sorted(waits[count:])
        print("\n| a writer, ms | median | 99 % | worst |\n|---|---|---|---|")
        for name, times in (("alone", alone), ("beside the sweep", beside)):
            middle, high = times[len(times) // 2], times[int(len(times) * 0.99)]
            print(f"| {name} | {middle * 1e3:.1f} | {high * 1e3:.1f} | {times[-1] * 1e3:.0f} |")


if __name__ == "__main__":
    main()
