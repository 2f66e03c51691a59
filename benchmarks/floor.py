"""What the functions cost beside the bare statements they stand for, in one run.

A floor is the fastest plain SQL that could do the same job: one narrow table with inline vectors
scanned exactly, one row inserted a message, the last fifty rows read by key. Everything here is
reported as a ratio to its floor, since machines are shared and absolute times drift.

    python benchmarks/floor.py [--dsn DSN] [--json]     (default: a temporary embedded server)
"""

from __future__ import annotations

import argparse
import contextlib
import json
import random
import statistics
import sys
import tempfile
import time
import uuid
from collections.abc import Callable, Iterator
from typing import Any

import psycopg
from pgvector import HalfVector
from pgvector.psycopg import register_vector
from psycopg.types.json import Jsonb

import pgrecall.schema

DIMENSIONS = 1536
OTHERS = 100
ROUNDS = 300

FLOOR = f"""
create table floor_memory (
    user_id   uuid not null,
    memory_id uuid not null,
    embedding halfvec({DIMENSIONS}) not null,
    primary key (user_id, memory_id));
alter table floor_memory alter column embedding set storage plain;
create table floor_message (
    user_id    uuid not null,
    session_id uuid not null,
    turn_index integer not null,
    created_at timestamptz not null,
    message_id uuid not null,
    role       text not null,
    content    text,
    metadata   jsonb not null default '{{}}',
    primary key (user_id, session_id, turn_index));
"""


@contextlib.contextmanager
def database(dsn: str | None) -> Iterator[str]:
    """The DSN of a fresh database, dropped afterwards."""
    with contextlib.ExitStack() as stack:
        if dsn is None:
            from pgrecall.embedded import EmbeddedServer

            home = stack.enter_context(tempfile.TemporaryDirectory(prefix="pgrecall-bench-"))
            dsn = stack.enter_context(EmbeddedServer(home))
        name = f"bench_{uuid.uuid4().hex[:8]}"
        with psycopg.connect(dsn, autocommit=True) as server:
            server.execute(f"create database {name}")
            try:
                yield psycopg.conninfo.make_conninfo(dsn, dbname=name)
            finally:
                server.execute(f"drop database {name} with (force)")


def vector() -> HalfVector:
    """A random direction; benchmarks never reuse a vector."""
    return HalfVector([random.gauss(0, 1) for _ in range(DIMENSIONS)])


def timed(function: Callable[[], object], rounds: int = ROUNDS) -> dict[str, float]:
    """Milliseconds of a call after a warm-up: median and 99th percentile."""
    for _ in range(20):
        function()
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        function()
        times.append(1000 * (time.perf_counter() - start))
    return {"p50": statistics.median(times), "p99": statistics.quantiles(times, n=100)[98]}


class Bench:
    """One connection, its users, and the measurements."""

    def __init__(self, db: psycopg.Connection[Any]) -> None:
        self.db = db
        self.user = uuid.uuid4()
        self.session = self.one(
            "select recall.open_session(p_user_id => %s, p_model_id => 'gpt-4o-mini')", self.user
        )
        self.turn = 0

    def one(self, query: str, *values: object) -> Any:
        """Run a prepared statement; the first column of its first row."""
        cursor = self.db.execute(query, values, prepare=True, binary=True)
        rows = cursor.fetchall() if cursor.description else []
        return rows[0][0] if rows else None

    def fill(self, memories: int, messages: int) -> None:
        """Memories of our user and of others, and a long session, with the floor beside them."""
        for owner, count in [(self.user, memories)] + [(uuid.uuid4(), 200) for _ in range(OTHERS)]:
            texts = [f"Statement {n} of {owner}: {uuid.uuid4().hex}" for n in range(count)]
            vectors = [vector() for _ in texts]
            self.db.execute(
                "select from recall.ingest_memories(p_user_id => %s, p_session_id => null, "
                "p_candidates => %s, p_embeddings => %s)",
                [
                    owner,
                    Jsonb([{"content": t, "source": "import", "token_count": 20} for t in texts]),
                    vectors,
                ],
            )
            with self.db.cursor().copy("copy floor_memory from stdin with (format binary)") as copy:
                copy.set_types(["uuid", "uuid", "halfvec"])
                for v in vectors:
                    copy.write_row([owner, uuid.uuid4(), v])
        for _ in range(messages // 2):
            self.append()
            self.append_floor()
        self.db.execute("vacuum analyze")

    def turn_texts(self) -> tuple[str, str]:
        return ("How do I do this? " * 8, "You do it like that. " * 12)

    def append(self) -> None:
        question, answer = self.turn_texts()
        self.one(
            "select count(*) from recall.append_messages(%s, %s, %s, %s, %s)",
            self.user,
            self.session,
            Jsonb(
                [
                    {"role": "user", "content": question, "token_count": 48},
                    {"role": "assistant", "content": answer, "token_count": 72},
                ]
            ),
            Jsonb({"prompt_tokens": 500, "completion_tokens": 72}),
            uuid.uuid4(),
        )

    def append_floor(self) -> None:
        question, answer = self.turn_texts()
        self.turn += 2
        self.one(
            "insert into floor_message values (%s, %s, %s, now(), %s, 'user', %s), "
            "(%s, %s, %s, now(), %s, 'assistant', %s)",
            *(self.user, self.session, self.turn - 1, uuid.uuid4(), question),
            *(self.user, self.session, self.turn, uuid.uuid4(), answer),
        )

    def read_floor(self) -> None:
        self.db.execute(
            "select role, content from floor_message where user_id = %s and session_id = %s "
            "order by turn_index desc limit 50",
            [self.user, self.session],
            prepare=True,
        ).fetchall()

    def read(self) -> None:
        self.db.execute(
            "select role, content from recall.get_messages(%s, %s, 50)",
            [self.user, self.session],
            prepare=True,
        ).fetchall()

    def search_floor(self) -> None:
        self.db.execute(
            "select memory_id from floor_memory where user_id = %s "
            "order by embedding <=> %s limit 10",
            [self.user, vector()],
            prepare=True,
            binary=True,
        ).fetchall()

    def search(self, query: str | None = None) -> None:
        self.db.execute(
            "select * from recall.search(p_user_id => %s, p_query => %s, "
            "p_query_embedding => %s, p_limit => 10)",
            [self.user, query, vector()],
            prepare=True,
            binary=True,
        ).fetchall()

    def compile(self) -> None:
        self.one(
            "select recall.compile_context(%s, %s, %s, %s)",
            self.user,
            self.session,
            "statement of the user",
            vector(),
        )

    def remember(self, with_vector: bool) -> None:
        self.one(
            "select outcome from recall.remember(p_user_id => %s, p_content => %s, "
            "p_embedding => %s)",
            uuid.uuid4() if not with_vector else self.user,
            f"Likes {uuid.uuid4().hex}",
            vector() if with_vector else None,
        )


def measure(dsn: str | None) -> dict[str, dict[str, float]]:
    """All figures: milliseconds, and ratios to the floor of the same run."""
    with database(dsn) as target, psycopg.connect(target, autocommit=True) as db:
        pgrecall.schema.install(db, embedding_dimensions=DIMENSIONS)
        db.execute(FLOOR)
        register_vector(db)
        bench = Bench(db)
        bench.fill(memories=200, messages=500)
        figures = {
            "search floor (exact scan of 200)": timed(bench.search_floor),
            "search, semantic": timed(bench.search),
            "search, hybrid": timed(lambda: bench.search("statement number")),
            "read floor (last 50)": timed(bench.read_floor),
            "get_messages(50)": timed(bench.read),
            "compile_context": timed(bench.compile),
            "append floor (two plain inserts)": timed(bench.append_floor),
            "append_messages": timed(bench.append),
            "remember, no vector": timed(lambda: bench.remember(False)),
            "remember, near check over 200": timed(lambda: bench.remember(True), 60),
        }
    floors = {
        "search, semantic": ["search floor (exact scan of 200)"],
        "search, hybrid": ["search floor (exact scan of 200)"],
        "get_messages(50)": ["read floor (last 50)"],
        "compile_context": ["search floor (exact scan of 200)", "read floor (last 50)"],
        "append_messages": ["append floor (two plain inserts)"],
    }
    for name, parts in floors.items():
        figures[name]["ratio"] = figures[name]["p50"] / sum(figures[p]["p50"] for p in parts)
    return figures


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--dsn", help="a superuser's DSN of a server with pgvector")
    parser.add_argument("--json", action="store_true", help="one JSON document")
    options = parser.parse_args()

    figures = measure(options.dsn)
    if options.json:
        json.dump(figures, sys.stdout, indent=2)
        return
    print("| | p50 ms | p99 ms | ratio to its floor |\n|---|---|---|---|")
    for name, figure in figures.items():
        ratio = f"{figure['ratio']:.1f}" if "ratio" in figure else ""
        print(f"| {name} | {figure['p50']:.2f} | {figure['p99']:.2f} | {ratio} |")


if __name__ == "__main__":
    main()
