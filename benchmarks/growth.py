"""Latency as the database grows, and as a user's memories do.

First one user with 200 memories and 200 messages while the memories of others grow from a thousand
to a million, 50 a user; then users of 50 to 20,000 memories in the largest of these databases. The
floor is an exact scan of the same vectors in a table of their own, and is measured beside every
point: on a shared machine only the ratio to it says something. Rows of others are inserted
directly, as import would leave them; a million takes some minutes and 2 GB.

    python benchmarks/growth.py [--dsn DSN] [--largest 100000] [--dimensions 128] [--json]
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import sys
import time
import uuid
from collections.abc import Callable
from typing import Any

import psycopg
from pgvector import HalfVector
from psycopg.types.json import Jsonb

from target import database

EACH = 50  # memories of another user
CHUNK = 1_000  # users that are filled in one transaction
SIZES = (1_000, 10_000, 100_000, 1_000_000)
USER_SIZES = (50, 200, 1_000, 5_000, 20_000)
ROUNDS, WARM_UP = 150, 20

# Sums of three random vectors out of 600: no two alike, and made in a moment.
FILL = """
create function pg_temp.fill(p_users uuid[], p_count integer, p_salt bigint) returns void
language plpgsql as $$
begin
    insert into recall.users (user_id, active_memory_count, created_at)
    select u, p_count, now() from unnest(p_users) as u;

    create temp table made as
    select u.user_id, recall.uuidv7() as memory_id, n, random() as luck,
           p_salt + u.place * p_count + n as number
      from unnest(p_users) with ordinality as u (user_id, place)
     cross join generate_series(1, p_count) as n;

    insert into recall.memory_store (
        user_id, memory_id, tier, scope, kind, content, content_hash, token_count, search_vector,
        provenance, source, confidence, importance, observed_at, created_at, updated_at,
        is_validated)
    select m.user_id, m.memory_id, 'semantic', 'global', 'fact',
           format('Statement %s on topic%s and topic%s', m.n, m.n % 97, m.number % 89),
           uuid_send(m.memory_id), 8,
           array_to_tsvector(array['statement', m.n::text, 'topic' || m.n % 97,
                                   'topic' || m.number % 89]),
           'user_stated', 'import', 0.9, m.luck, now(), now() - m.luck * interval '300 days', now(),
           true
      from made as m;

    insert into recall.memory_embedding (user_id, memory_id, embedding_model, embedding)
    select m.user_id, m.memory_id, recall.get_settings() ->> 'embedding_model', a.v + b.v + c.v
      from made as m
      join base as a on a.n = m.number * 7 % 600
      join base as b on b.n = (m.number / 600 + m.number * 11) % 600
      join base as c on c.n = (m.number / 7919 + m.number * 13 + 5) % 600;
    drop table made;
end $$
"""


class Growth:
    """One database that grows."""

    def __init__(self, db: psycopg.Connection[Any], dimensions: int) -> None:
        self.db = db
        self.dimensions = dimensions
        self.random = random.Random(1)
        self.salt = 0
        self.others = 0
        db.execute("set max_parallel_workers_per_gather = 0")
        db.execute(
            "create temp table base as"
            " select n, (array_agg(random() - 0.5))::halfvec as v"
            f"  from generate_series(0, 599) as n cross join generate_series(1, {dimensions})"
            " group by n"
        )
        db.execute(FILL)
        db.execute(
            "create table floor (user_id uuid not null, memory_id uuid not null,"
            f" embedding halfvec({dimensions}) not null, primary key (user_id, memory_id))"
        )
        db.execute("alter table floor alter column embedding set storage plain")

    def fill(self, users: list[uuid.UUID], count: int) -> None:
        """Give users so many memories each."""
        self.db.execute("select pg_temp.fill(%s, %s, %s)", [users, count, self.salt])
        self.salt += (len(users) + 1) * count + 100_003

    def grow(self, size: int) -> None:
        """Add other users until they have so many memories together."""
        while self.others < size:
            users = min(CHUNK, (size - self.others) // EACH)
            self.fill([uuid.uuid4() for _ in range(users)], EACH)
            self.others += users * EACH
        self.db.execute("vacuum analyze")
        self.db.execute("checkpoint")

    def person(self, memories: int) -> tuple[uuid.UUID, uuid.UUID]:
        """Make a user with memories, in the floor too, and a conversation of 200 messages."""
        user = uuid.uuid4()
        self.fill([user], memories)
        self.db.execute(
            "insert into floor select user_id, memory_id, embedding"
            "  from recall.memory_embedding where user_id = %s",
            [user],
        )
        row = self.db.execute(
            "select recall.open_session(p_user_id => %s, p_model_id => 'gpt-4o-mini')", [user]
        ).fetchone()
        assert row is not None
        for _ in range(100):
            self.append(user, row[0])
        self.db.execute("analyze")
        return user, row[0]

    def append(self, user: uuid.UUID, session: uuid.UUID) -> None:
        self._run(
            "select count(*) from recall.append_messages(%s, %s, %s)",
            user,
            session,
            Jsonb(
                [
                    {"role": "user", "content": "How do I do this? " * 8, "token_count": 48},
                    {"role": "assistant", "content": "Like that. " * 20, "token_count": 72},
                ]
            ),
        )

    def point(self, user: uuid.UUID, session: uuid.UUID) -> dict[str, float]:
        """Measure everything for one user; medians in milliseconds."""
        words = "which statement on topic7 and topic11"
        return {
            "floor": self.timed(
                lambda vector: self._run(
                    "select memory_id from floor where user_id = %s"
                    " order by embedding <=> %s limit 10",
                    user,
                    vector,
                )
            ),
            "search": self.timed(
                lambda vector: self._run(
                    "select memory_id from recall.search(p_user_id => %s,"
                    " p_query_embedding => %s, p_limit => 10)",
                    user,
                    vector,
                )
            ),
            "hybrid": self.timed(
                lambda vector: self._run(
                    "select memory_id from recall.search(p_user_id => %s, p_query => %s,"
                    " p_query_embedding => %s, p_limit => 10)",
                    user,
                    words,
                    vector,
                )
            ),
            "compile": self.timed(
                lambda vector: self._run(
                    "select recall.compile_context(%s, %s, %s, %s)", user, session, words, vector
                )
            ),
            "append": self.timed(lambda _: self.append(user, session)),
        }

    def timed(self, function: Callable[[HalfVector], None]) -> float:
        """Return the median of a call in milliseconds; each has a vector of its own."""
        times = []
        for _ in range(WARM_UP + ROUNDS):
            vector = HalfVector([self.random.gauss(0, 1) for _ in range(self.dimensions)])
            start = time.perf_counter()
            function(vector)
            times.append(1000 * (time.perf_counter() - start))
        return statistics.median(times[WARM_UP:])

    def _run(self, query: str, *values: object) -> None:
        self.db.execute(query.encode(), values, prepare=True, binary=True).fetchall()


def measure(dsn: str | None, largest: int, dimensions: int) -> dict[str, Any]:
    """Measure both tables."""
    by_database, by_user = [], []
    with database(dsn, dimensions=dimensions) as db:
        growth = Growth(db, dimensions)
        user, session = growth.person(200)
        for size in [size for size in SIZES if size <= largest]:
            growth.grow(size)
            by_database.append({"size": size} | growth.point(user, session))
        for size in USER_SIZES:
            by_user.append({"size": size} | growth.point(*growth.person(size)))  # noqa: PERF401
    return {"dimensions": dimensions, "database": by_database, "user": by_user}


def table(title: str, points: list[dict[str, float]]) -> str:
    """Return a Markdown table of medians and their ratios to the floor."""
    names = [name for name in points[0] if name not in {"size", "floor"}]
    lines = [f"| {title} | floor | " + " | ".join(names) + " |", "|---" * (len(names) + 2) + "|"]
    lines += [
        f"| {point['size']:,} | {point['floor']:.2f} | "
        + " | ".join(f"{point[name]:.2f} ({point[name] / point['floor']:.1f} ×)" for name in names)
        + " |"
        for point in points
    ]
    return "\n".join(lines)


def main() -> None:
    """Measure and print tables."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--dsn", help="a superuser's DSN of a server with pgvector")
    parser.add_argument("--largest", type=int, default=100_000, help="memories of others, at most")
    parser.add_argument("--dimensions", type=int, default=128)
    parser.add_argument("--json", action="store_true", help="one JSON document")
    options = parser.parse_args()

    figures = measure(options.dsn, options.largest, options.dimensions)
    if options.json:
        json.dump(figures, sys.stdout, indent=2)
        return
    print(table("memories in the database, p50 ms", figures["database"]))
    print()
    print(table("memories of the user, p50 ms", figures["user"]))


if __name__ == "__main__":
    main()
