"""Measure the functions beside the bare statements that they stand for, in one run.

A floor is plain SQL that does the same job and nothing else: one row inserted for a message, or the
last fifty rows read by key. A search has two floors. The exact floor compares all vectors of a user
in a narrow table with inline vectors. The bit floor compares their sign bits, then the vectors of
the nearest 800. It is faster for many memories, and misses some.

Machines are shared and absolute times drift, so all figures are ratios to a floor. A function and
its floor take turns of a few calls, so that both see the same load.

    python benchmarks/floor.py [--dsn DSN] [--json]     (default: a temporary embedded server)
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import sys
import time
import uuid
from collections.abc import Callable, Iterable
from typing import Any

import psycopg
from pgvector import HalfVector
from psycopg.types.json import Jsonb

from target import database, do_due_jobs

DIMENSIONS = 1536
OTHERS = 100
BATCH = 1_000  # memories in one call
ROUNDS = 300
WARM_UP = 20
TURN = 10
# Tokens of a window in which 60 of the session's messages fit beside the memories.
SMALL_WINDOW = 6_000

FLOOR = f"""
create table floor_memory (
    user_id   uuid not null,
    memory_id uuid not null,
    embedding halfvec({DIMENSIONS}) not null,
    primary key (user_id, memory_id));
alter table floor_memory alter column embedding set storage plain;
create table floor_bits (
    user_id   uuid not null,
    memory_id uuid not null,
    bits      bit({DIMENSIONS}) not null,
    primary key (user_id, memory_id));
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


# Multiples of the floor; for the hybrid search, of the semantic one.
GOALS = {
    "search, semantic": 1.5,
    "search, hybrid": 1.4,
    "search, semantic, 50 memories": 2.5,
    "compile_context, 60 of 500 messages fit": 2.5,
    "append_messages": 2.0,
}


def vector() -> HalfVector:
    """Return a random direction; benchmarks never reuse a vector."""
    return HalfVector([random.gauss(0, 1) for _ in range(DIMENSIONS)])


def timed(
    functions: dict[str, Callable[[HalfVector], object]], rounds: int = ROUNDS
) -> dict[str, dict[str, float]]:
    """Time calls after a warm-up; return median, 95th and 99th percentile by name.

    The functions take turns. Each call gets a vector of its own, generated beforehand.
    """
    times: dict[str, list[float]] = {name: [] for name in functions}
    for start in range(-WARM_UP, rounds, TURN):
        for name, function in functions.items():
            for given in [vector() for _ in range(TURN)]:
                begin = time.perf_counter()
                function(given)
                times[name].append(1000 * (time.perf_counter() - begin))
            if start < 0:
                times[name].clear()
    figures = {}
    for name, taken in times.items():
        parts = statistics.quantiles(taken, n=100)
        figures[name] = {"p50": statistics.median(taken), "p95": parts[94], "p99": parts[98]}
    return figures


class Bench:
    """One connection, its users, and the measurements."""

    def __init__(self, db: psycopg.Connection[Any], window: int | None = None) -> None:
        self.db = db
        self.user = uuid.uuid4()
        self.session = self.one(
            "select recall.open_session(p_user_id => %s, p_model_id => 'gpt-4o-mini', "
            "p_context_window_size => %s)",
            self.user,
            window,
        )
        self.turn = 0

    def one(self, query: str, *values: object) -> Any:
        """Run a prepared statement and return the first column of its first row."""
        cursor = self.db.execute(query, values, prepare=True, binary=True)
        rows = cursor.fetchall() if cursor.description else []
        return rows[0][0] if rows else None

    def fill(self, memories: int, messages: int, others: int = 0) -> None:
        """Fill memories of the user and of others, a session, and the tables of the floor."""
        for owner, count in [(self.user, memories)] + [(uuid.uuid4(), 200) for _ in range(others)]:
            for first in range(0, count, BATCH):
                self._add(owner, range(first, min(first + BATCH, count)))
        self.db.execute(
            "insert into floor_bits"
            f" select user_id, memory_id, binary_quantize(embedding)::bit({DIMENSIONS})"
            "  from floor_memory where user_id = %s",
            [self.user],
        )
        for _ in range(messages // 2):
            self.append()
            self.append_floor()
        self.db.execute("vacuum analyze")

    def _add(self, owner: uuid.UUID, numbers: Iterable[int]) -> None:
        texts = [f"Statement {n} of {owner}: {uuid.uuid4().hex}" for n in numbers]
        vectors = [vector() for _ in texts]
        self.db.execute(
            "select from recall.ingest_memories(p_user_id => %s, p_session_id => null, "
            "p_candidates => %s, p_embeddings => %b)",
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

    def turn_texts(self) -> tuple[str, str]:
        return ("How do I do this? " * 8, "You do it like that. " * 12)

    def append(self, _: HalfVector | None = None) -> None:
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

    def append_floor(self, _: HalfVector | None = None) -> None:
        question, answer = self.turn_texts()
        self.turn += 2
        self.one(
            "insert into floor_message values (%s, %s, %s, now(), %s, 'user', %s), "
            "(%s, %s, %s, now(), %s, 'assistant', %s)",
            *(self.user, self.session, self.turn - 1, uuid.uuid4(), question),
            *(self.user, self.session, self.turn, uuid.uuid4(), answer),
        )

    def read_floor(self, _: HalfVector) -> None:
        self.db.execute(
            "select role, content from floor_message where user_id = %s and session_id = %s "
            "order by turn_index desc limit 50",
            [self.user, self.session],
            prepare=True,
        ).fetchall()

    def read(self, _: HalfVector) -> None:
        self.db.execute(
            "select role, content from recall.get_messages(%s, %s, 50)",
            [self.user, self.session],
            prepare=True,
        ).fetchall()

    def search_by_bits(self, embedding: HalfVector) -> None:
        # PostgreSQL would evaluate an expression over a parameter for every row
        bits = "".join("1" if number > 0 else "0" for number in embedding.to_list())
        self.db.execute(
            "with near as materialized ("
            " select b.memory_id from floor_bits as b where b.user_id = %(user)s"
            f" order by b.bits <~> %(bits)s::bit({DIMENSIONS}) limit 800)"
            " select m.memory_id from floor_memory as m"
            "  where m.user_id = %(user)s and m.memory_id = any (select memory_id from near)"
            "  order by m.embedding <=> %(v)s limit 10",
            {"user": self.user, "v": embedding, "bits": bits},
            prepare=True,
            binary=True,
        ).fetchall()

    def search_floor(self, embedding: HalfVector) -> None:
        self.db.execute(
            "select memory_id from floor_memory where user_id = %s "
            "order by embedding <=> %s limit 10",
            [self.user, embedding],
            prepare=True,
            binary=True,
        ).fetchall()

    def search(self, embedding: HalfVector, query: str | None = None) -> None:
        self.db.execute(
            "select * from recall.search(p_user_id => %s, p_query => %s, "
            "p_query_embedding => %s, p_limit => 10)",
            [self.user, query, embedding],
            prepare=True,
            binary=True,
        ).fetchall()

    def compile(self, embedding: HalfVector, **options: object) -> None:
        self.one(
            "select recall.compile_context(%s, %s, %s, %s, %s)",
            self.user,
            self.session,
            "statement of the user",
            embedding,
            Jsonb(options),
        )

    def index(self) -> None:
        """Embed the messages as a worker does, and summarize the session."""
        worker = {"embedding_model": self.one("select embedding_model from recall.settings")}
        for _ in do_due_jobs(
            self.db, worker, kinds=["embed"],
            respond=lambda request: {"vectors": [vector().to_list() for _ in request["inputs"]]},
        ):  # fmt: skip
            pass
        self.db.execute("vacuum analyze")

    def search_sessions(self, embedding: HalfVector) -> None:
        self.db.execute(
            "select * from recall.search_sessions(%s, %s, %s)",
            [self.user, "how to do this", embedding],
            prepare=True,
            binary=True,
        ).fetchall()

    def remember(self, embedding: HalfVector | None) -> None:
        self.one(
            "select outcome from recall.remember(p_user_id => %s, p_content => %s, "
            "p_embedding => %s)",
            uuid.uuid4() if embedding is None else self.user,
            f"Likes {uuid.uuid4().hex}",
            embedding,
        )


def measure(dsn: str | None) -> dict[str, dict[str, float]]:
    """Return all figures: milliseconds, and ratios to a floor of the same run."""
    with database(dsn, dimensions=DIMENSIONS) as db:
        db.execute(FLOOR)
        bench, few, small = Bench(db), Bench(db), Bench(db, SMALL_WINDOW)
        bench.fill(memories=200, messages=500, others=OTHERS)
        few.fill(memories=50, messages=0)
        small.fill(memories=200, messages=500)
        figures = timed(
            {
                "exact floor (scan of 200)": bench.search_floor,
                "search, semantic": bench.search,
                "search, hybrid": lambda v: bench.search(v, "statement number"),
                "exact floor (scan of 50)": few.search_floor,
                "search, semantic, 50 memories": few.search,
            }
        )
        figures |= timed(
            {
                "read floor (last 50)": bench.read_floor,
                "get_messages(50)": bench.read,
                "compile_context, 60 of 500 messages fit": small.compile,
                "compile_context, all 500 fit": bench.compile,
                "compile_context, selection all": lambda v: bench.compile(v, selection="all"),
                "compile_context, selection top": lambda v: bench.compile(v, selection="top"),
                "compile_context, selection split": lambda v: bench.compile(v, selection="split"),
            }
        )
        figures |= timed(
            {
                "append floor (two plain inserts)": bench.append_floor,
                "append_messages": bench.append,
                "remember, no vector": lambda _: bench.remember(None),
            }
        )
        figures |= timed({"remember, near check over 200": bench.remember}, 60)
        many = Bench(db)
        many.fill(memories=20_000, messages=0)
        figures |= timed(
            {
                "exact floor (scan of 20,000)": many.search_floor,
                "bit floor (signs of 20,000, then 800 exactly)": many.search_by_bits,
                "search, semantic, 20,000 memories": many.search,
            },
            60,
        )
        bench.index()
        figures |= timed(
            {
                "compile_context, recalled": lambda v: bench.compile(v, recalled=True),
                "search_sessions": bench.search_sessions,
            },
            60,
        )
    search = ["exact floor (scan of 200)"]
    context = [*search, "read floor (last 50)"]
    floors = {name: context for name in figures if name.startswith("compile_context")} | {
        "search, semantic": search,
        "search, hybrid": ["search, semantic"],
        "search, semantic, 50 memories": ["exact floor (scan of 50)"],
        "search, semantic, 20,000 memories": ["bit floor (signs of 20,000, then 800 exactly)"],
        "get_messages(50)": ["read floor (last 50)"],
        "search_sessions": search,
        "append_messages": ["append floor (two plain inserts)"],
    }
    for name, parts in floors.items():
        figures[name]["ratio"] = figures[name]["p50"] / sum(figures[p]["p50"] for p in parts)
        if name in GOALS:
            figures[name]["goal"] = GOALS[name]
    return figures


def main() -> None:
    """Measure and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--dsn", help="a superuser's DSN of a server with pgvector")
    parser.add_argument("--json", action="store_true", help="one JSON document")
    options = parser.parse_args()

    figures = measure(options.dsn)
    if options.json:
        json.dump(figures, sys.stdout, indent=2)
        return
    print("| | p50 ms | p95 ms | p99 ms | ratio to its floor | goal |\n|---|---|---|---|---|---|")
    for name, figure in figures.items():
        times = " | ".join(f"{figure[part]:.2f}" for part in ("p50", "p95", "p99"))
        ratios = " | ".join(
            f"{figure[part]:.1f}" if part in figure else "" for part in ("ratio", "goal")
        )
        print(f"| {name} | {times} | {ratios} |")


if __name__ == "__main__":
    main()
