"""Measure time, write-ahead log and bytes of writes, beside the bare statements.

Processor time is that of the server process, so a busy machine disturbs it less than the clock. The
floor is measured in the same rounds. Log is counted in records, without page images. It is that of
the whole server, which should have no other load.

    python benchmarks/writes.py [--dsn DSN] [--seconds 20] [--json]     (a superuser's DSN)
"""

from __future__ import annotations

import argparse
import itertools
import json
import statistics
import sys
import threading
import time
import uuid
from collections.abc import Callable
from typing import Any

import psycopg
from pgvector import HalfVector
from psycopg.types.json import Jsonb

from floor import DIMENSIONS, FLOOR, Bench, vector
from target import database, processor_ms

ROUNDS, EACH = 40, 10
BATCH = 100
ENDED = 2_000  # ended memories of a user, to test that the time stays flat
USERS = 10  # users with 200 memories each; a single one would grow to many more
RATE = 520  # messages a second
CLIENTS = 4

APPEND_FLOOR = "append floor (two plain inserts)"
APPEND_BARE = "three statements into our tables, no checks"
APPEND = "append_messages, a turn"
WITH_VECTOR = "remember with a vector, near check over 200"
BATCH_WITH_VECTORS = "ingest_memories, a hundred with vectors"

Figures = dict[str, float]

# The least that an append in PL/pgSQL does with these tables: counters, receipt, messages.
BARE = """
create function pg_temp.append_bare(
    p_user_id uuid, p_session_id uuid, p_messages jsonb, p_request_id uuid)
returns integer language plpgsql set plan_cache_mode = force_generic_plan as $$
declare
    v_turns integer := jsonb_array_length(p_messages);
    v_last  integer;
begin
    update recall.sessions as s
       set turn_count = s.turn_count + v_turns, user_turn_count = s.user_turn_count + 1,
           active_tokens = s.active_tokens + 120, last_message_at = now(), updated_at = now()
     where s.user_id = p_user_id and s.session_id = p_session_id
    returning s.turn_count into v_last;
    insert into recall.append_receipts (user_id, request_id, session_id, payload_hash, from_turn,
                                        to_turn, created_at)
    values (p_user_id, p_request_id, p_session_id, 0, v_last - v_turns + 1, v_last, now());
    insert into recall.conversation_history (user_id, session_id, turn_index, created_at,
        message_id, role, content, content_hash, token_count)
    select p_user_id, p_session_id, v_last - v_turns + m.place, now(), gen_random_uuid(),
           (m.message ->> 'role')::recall.message_role, m.message ->> 'content',
           sha256(convert_to(m.message::text, 'utf8')), (m.message ->> 'token_count')::integer
      from jsonb_array_elements(p_messages) with ordinality as m (message, place);
    return v_turns;
end $$
"""


class Log:
    """Counts the write-ahead log of some work, per row."""

    def __init__(self, db: psycopg.Connection[Any]) -> None:
        self.db = db
        db.execute("create extension if not exists pg_walinspect schema pg_catalog")

    def bytes(self, work: Callable[[], object]) -> int:
        """Run the work and return the bytes of its log records, without page images."""
        self.db.execute("checkpoint")
        (start,) = self.db.execute("select pg_current_wal_insert_lsn()::text").fetchone() or ()
        work()
        (end,) = self.db.execute("select pg_current_wal_insert_lsn()::text").fetchone() or ()
        self.db.execute("select pg_switch_wal()")  # flush the log, so that it can be read
        (size,) = (
            self.db.execute(
                "select sum(record_size)::bigint from pg_get_wal_stats(%s::pg_lsn, %s::pg_lsn)",
                [start, end],
            ).fetchone()
            or ()
        )
        return int(size)


def stored_bytes(db: psycopg.Connection[Any], pattern: str, schema: str = "recall") -> int:
    """Return the bytes of the tables with these names, with indexes and TOAST."""
    (size,) = (
        db.execute(
            "select coalesce(sum(pg_total_relation_size(c.oid)), 0)::bigint"
            "  from pg_class as c"
            " where c.relkind = 'r' and c.relnamespace = %s::regnamespace"
            "   and c.relname ~ %s",
            [schema, pattern],
        ).fetchone()
        or ()
    )
    return int(size)


def ingest(
    bench: Bench, vectors: list[HalfVector] | None = None, user: uuid.UUID | None = None
) -> None:
    """Write a batch of new memories, for a new user if none is given."""
    texts = [f"Statement {n} on {uuid.uuid4().hex}" for n in range(BATCH)]
    bench.one(
        "select count(*) from recall.ingest_memories(p_user_id => %s, p_session_id => null, "
        "p_candidates => %s, p_embeddings => %b)",
        user or uuid.uuid4(),
        Jsonb([{"content": t, "source": "import", "token_count": 12} for t in texts]),
        vectors,
    )


def timed(
    bench: Bench, works: dict[str, tuple[Callable[[list[HalfVector]], object], int]]
) -> dict[str, Figures]:
    """Return lower quartiles of the milliseconds per row: clock and server processor.

    Vectors are generated beforehand, and none is used twice.
    """
    clock: dict[str, list[float]] = {name: [] for name in works}
    processor: dict[str, list[float]] = {name: [] for name in works}
    for _ in range(ROUNDS):
        for name, (work, rows) in works.items():
            times = EACH if rows == 1 else 1
            vectors = [vector() for _ in range(max(times, rows))] if "vector" in name else []
            used, start = processor_ms(bench.db) or 0.0, time.perf_counter()
            for place in range(times):
                work(vectors[place : place + rows])
            clock[name].append(1000 * (time.perf_counter() - start) / times / rows)
            processor[name].append(((processor_ms(bench.db) or 0.0) - used) / times / rows)
    return {
        name: {
            "clock_ms": statistics.quantiles(clock[name][3:], n=4)[0],
            "processor_ms": statistics.quantiles(processor[name][3:], n=4)[0],
        }
        for name in works
    }


def with_a_past(bench: Bench) -> uuid.UUID:
    """Create a user with many ended memories: each was replaced ten times."""
    user = uuid.uuid4()
    for _ in range(11):
        bench.one(
            "select count(*) from recall.ingest_memories(p_user_id => %s, p_session_id => null, "
            "p_candidates => %s)",
            user,
            Jsonb(
                [
                    {"content": f"Says {uuid.uuid4().hex}", "slot": f"slot {n}", "token_count": 12}
                    for n in range(ENDED // 10)
                ]
            ),
        )
    return user


def append_bare(bench: Bench, session: uuid.UUID) -> None:
    """Append a turn as append_messages stores it, without all else that it does."""
    question, answer = bench.turn_texts()
    bench.one(
        "select pg_temp.append_bare(%s, %s, %s, %s)",
        bench.user,
        session,
        Jsonb(
            [
                {"role": "user", "content": question, "token_count": 48},
                {"role": "assistant", "content": answer, "token_count": 72},
            ]
        ),
        uuid.uuid4(),
    )


def sustained(dsn: str, seconds: float) -> Figures:
    """Append turns at a rate while a worker claims and finishes their jobs; return counts."""
    done, claimed, lags = [0] * CLIENTS, [0], []
    begin = time.perf_counter() + 0.5
    stop = begin + seconds
    users = [[uuid.uuid4() for _ in range(50)] for _ in range(CLIENTS)]

    def append(number: int) -> None:
        with psycopg.connect(dsn, autocommit=True) as db:
            bench = Bench(db)
            sessions = [
                (
                    user,
                    bench.one(
                        "select recall.open_session(p_user_id => %s, p_model_id => 'gpt-4o-mini')",
                        user,
                    ),
                )
                for user in users[number]
            ]
            turn = 0
            while (now := time.perf_counter()) < stop:
                due = begin + turn * 2 * CLIENTS / RATE
                if now < due:
                    time.sleep(due - now)
                else:
                    lags.append(now - due)
                bench.user, bench.session = sessions[turn % len(sessions)]
                bench.append()
                done[number] += 2
                turn += 1

    def work() -> None:
        with psycopg.connect(dsn, autocommit=True) as db:
            db.execute('select recall.configure(\'{"extract_after_idle": "1 second"}\')')
            while time.perf_counter() < stop:
                jobs = db.execute(
                    "select user_id, job_id, lease_token from recall.claim_jobs('bench', null, 20)",
                    prepare=True,
                ).fetchall()
                for job in jobs:
                    db.execute(
                        "select recall.fail_job(%s, %s, %s, 'no model here', false)",
                        job,
                        prepare=True,
                    )
                    claimed[0] += 1
                if not jobs:
                    time.sleep(0.05)

    threads = [threading.Thread(target=append, args=[n]) for n in range(CLIENTS)]
    threads.append(threading.Thread(target=work))
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    took = time.perf_counter() - begin
    return {
        "messages_per_second": sum(done) / took,
        "jobs_per_second": claimed[0] / took,
        "latest_ms": 1000 * max(lags, default=0.0),
    }


def measure(dsn: str | None, seconds: float) -> dict[str, Figures]:
    """Return all figures by name."""
    with database(dsn, dimensions=DIMENSIONS) as db:
        db.execute(FLOOR)
        bench = Bench(db)
        bench.fill(memories=200, messages=200)
        db.execute(BARE)
        other = bench.one(
            "select recall.open_session(p_user_id => %s, p_model_id => 'gpt-4o-mini')", bench.user
        )
        past = with_a_past(bench)
        users = [uuid.uuid4() for _ in range(USERS)]
        for user in users * 2:
            ingest(bench, [vector() for _ in range(BATCH)], user)
        turns = itertools.cycle(users)

        def remember(user: uuid.UUID, embedding: HalfVector | None = None) -> None:
            bench.one(
                "select recall.remember(p_user_id => %s, p_content => %s, p_embedding => %b)",
                user,
                f"Likes {uuid.uuid4().hex}",
                embedding,
            )

        figures = timed(
            bench,
            {
                APPEND_FLOOR: (lambda _: bench.append_floor(), 1),
                APPEND_BARE: (lambda _: append_bare(bench, other), 1),
                APPEND: (lambda _: bench.append(), 1),
                "remember": (lambda _: remember(bench.user), 1),
                "remember, with 2,000 ended memories": (lambda _: remember(past), 1),
                WITH_VECTOR: (lambda vectors: remember(next(turns), vectors[0]), 1),
                "ingest_memories, a hundred": (lambda _: ingest(bench), BATCH),
                BATCH_WITH_VECTORS: (lambda vectors: ingest(bench, vectors), BATCH),
            },
        )

        log = Log(db)

        def logged(name: str, work: Callable[[], object], rows: int, times: int) -> None:
            size = log.bytes(lambda: [work() for _ in range(times)])
            figures.setdefault(name, {})["log_bytes"] = size / rows / times

        logged(APPEND_FLOOR, bench.append_floor, 2, 200)
        logged(APPEND_BARE, lambda: append_bare(bench, other), 2, 200)
        logged(APPEND, bench.append, 2, 200)
        logged("remember", lambda: remember(bench.user), 1, 100)
        logged(WITH_VECTOR, lambda: remember(next(turns), vector()), 1, 100)
        pattern = "^memory_(store|embedding|events)"
        before = stored_bytes(db, pattern)
        logged(BATCH_WITH_VECTORS, lambda: ingest(bench, [vector() for _ in range(BATCH)]), 100, 20)
        figures[BATCH_WITH_VECTORS]["stored_bytes"] = (stored_bytes(db, pattern) - before) / 2_000
        for key in ("clock_ms", "processor_ms", "log_bytes"):
            for name in (APPEND_BARE, APPEND):
                if figures[APPEND_FLOOR][key]:
                    figures[name][f"{key}_ratio"] = figures[name][key] / figures[APPEND_FLOOR][key]
        figures["sustained"] = sustained(db.info.dsn, seconds)
    return figures


def main() -> None:
    """Measure and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--dsn", help="a superuser's DSN of a server with pgvector")
    parser.add_argument("--seconds", type=float, default=20, help="of the sustained load")
    parser.add_argument("--json", action="store_true", help="one JSON document")
    options = parser.parse_args()

    figures = measure(options.dsn, options.seconds)
    if options.json:
        json.dump(figures, sys.stdout, indent=2)
        return
    load = figures.pop("sustained")
    print("| | ms | of the server's processor | a second | log, KB a row |\n|---|---|---|---|---|")
    for name, figure in figures.items():
        ratios = {key: figure.get(f"{key}_ratio") for key in figure}
        cells = [
            f"{figure['clock_ms']:.3f}",
            f"{figure['processor_ms']:.3f}",
            f"{1000 / figure['clock_ms']:,.0f}",
            f"{figure['log_bytes'] / 1000:.2f}" if "log_bytes" in figure else "",
        ]
        for place, key in ((0, "clock_ms"), (1, "processor_ms"), (3, "log_bytes")):
            if ratios.get(key):
                cells[place] += f" ({ratios[key]:.1f} ×)"
        print(f"| {name} | {' | '.join(cells)} |")
    stored = figures[BATCH_WITH_VECTORS]["stored_bytes"]
    print(f"\nStored per memory, indexes, vector and audit included: {stored / 1000:.1f} KB.")
    print(
        f"Asked for {RATE} messages a second: {load['messages_per_second']:.0f} appended, "
        f"{load['jobs_per_second']:.0f} jobs claimed and closed, the latest append "
        f"{load['latest_ms']:.0f} ms behind its time."
    )


if __name__ == "__main__":
    main()
