"""Measure searches before, during and after a change of the embedding model, under load.

One user has half of the memories, so that their search compares sign bits first. The other half
belongs to users of 200 memories. Two readers search, a writer remembers, retracts and appends, and
a worker makes vectors and runs the maintenance. After a while the model changes from 384 to 768
dimensions. The vectors are sums of a random direction for each word, other ones for each model.

A reader names its model, as the driver does. After RC004 with the name of another model it embeds
again and repeats the call, once: such a search counts as renewed. Any other error is a failed
search. Recall compares the ten best of a search with an exact scan in the same snapshot.

    python benchmarks/embedding_migration.py [--dsn DSN] [--memories 20000] [--from 384] [--to 768]

Times are processor times of the readers' server processes, and times at the client for the 95th
percentile.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import sys
import threading
import time
import uuid
import zlib
from collections import defaultdict
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np
import psycopg
from pgvector import HalfVector
from pgvector.psycopg import register_vector
from psycopg.types.json import Jsonb

from target import database, do_due_jobs, processor_ms

OLD, NEW = "hash:old", "hash:new"
EACH = 200
SYLLABLES = [a + b for a in "bdfgklmnprstvz" for b in ("a", "e", "i", "o", "u")]
WORDS = 3_000
PHASES = ("before", "during", "after, old vectors kept", "after, old vectors deleted")

FILL = """
with made as (
    select recall.uuidv7() as memory_id, t.content, t.embedding::halfvec as embedding
      from unnest(%(texts)s::text[], %(vectors)s::text[]) as t (content, embedding)
), stored as (
    insert into recall.memory_store (
        user_id, memory_id, tier, scope, kind, content, content_hash, token_count, search_vector,
        provenance, source, confidence, importance, observed_at, created_at, updated_at,
        is_validated)
    select %(user)s, m.memory_id, 'semantic', 'global', 'fact', m.content,
           uuid_send(m.memory_id), 8, to_tsvector('english', m.content), 'user_stated', 'import',
           0.9, 0.5, now(), now(), now(), true
      from made as m
)
insert into recall.memory_embedding (user_id, memory_id, embedding_model, embedding)
select %(user)s, m.memory_id, %(model)s, m.embedding from made as m
"""
EXACT = """
select memory_id from recall.memory_embedding
 where user_id = %s and embedding_model = %s order by embedding <=> %s, memory_id limit 10
"""


@cache
def word(number: int) -> str:
    """Return a word by its rank; words of three syllables are seldom similar."""
    chance = random.Random(number)
    return "".join(chance.choice(SYLLABLES) for _ in range(3))


@cache
def direction(word: str, model: str, dimensions: int) -> np.ndarray[Any, Any]:
    """Return the direction of a word in a model."""
    seed = zlib.crc32(f"{model} {word}".encode())
    return np.random.default_rng(seed).standard_normal(dimensions)


def embedded(text: str, model: str, dimensions: int) -> list[float]:
    """Return the vector of a text in a model: the sum of its words, of length one."""
    words = text.lower().split() or ["?"]
    made = np.sum([direction(word, model, dimensions) for word in words], axis=0)
    return [round(float(number), 5) for number in made / np.linalg.norm(made)]


@dataclass
class Phase:
    """Searches of one phase: counts, errors, recall and times."""

    searches: int = 0
    renewed: int = 0
    failed: list[str] = field(default_factory=list)
    recall: list[float] = field(default_factory=list)
    large_ms: list[float] = field(default_factory=list)
    small_ms: list[float] = field(default_factory=list)
    waited_ms: list[float] = field(default_factory=list)

    def figures(self) -> dict[str, Any]:
        """Return counts, mean and least recall, medians and the 95th percentile."""
        return {
            "searches": self.searches,
            "failed": len(self.failed),
            "renewed": self.renewed,
            "recall": statistics.mean(self.recall) if self.recall else None,
            "least_recall": min(self.recall, default=None),
            "large_ms": statistics.median(self.large_ms) if self.large_ms else None,
            "small_ms": statistics.median(self.small_ms) if self.small_ms else None,
            "p95_ms": sorted(self.waited_ms)[int(0.95 * len(self.waited_ms))]
            if self.waited_ms else None,
        }  # fmt: skip


class Migration:
    """A database under load, whose embedding model changes."""

    def __init__(self, db: psycopg.Connection[Any], memories: int, before: int, after: int) -> None:
        self.db = db
        self.dimensions = {OLD: before, NEW: after}
        self.chance = random.Random(1)
        self.large = uuid.uuid4()
        self.small = [uuid.uuid4() for _ in range(max(1, memories // 2 // EACH))]
        self.phase = PHASES[0]
        self.phases: dict[str, Phase] = defaultdict(Phase)
        self.lock = threading.Lock()
        self.is_over = threading.Event()
        self.writes = 0
        self.errors: list[str] = []
        db.execute("select recall.configure(%s)",
                   [Jsonb({"embedding_model": OLD, "extraction": "none"})])  # fmt: skip
        for user, count in [(self.large, memories // 2), *((one, EACH) for one in self.small)]:
            db.execute("insert into recall.users (user_id, active_memory_count, created_at)"
                       " values (%s, %s, now())", [user, count])  # fmt: skip
            for first in range(0, count, 1_000):
                texts = [self.sentence() for _ in range(min(1_000, count - first))]
                vectors = [json.dumps(embedded(text, OLD, before)) for text in texts]
                db.execute(FILL, {"user": user, "texts": texts, "vectors": vectors, "model": OLD})
        db.execute("vacuum analyze")

    def sentence(self, words: int = 8) -> str:
        """Return random words, of which the n-th is 1 / n as frequent as the first."""
        return " ".join(word(int(WORDS ** self.chance.random())) for _ in range(words))

    def vector(self, text: str, model: str) -> HalfVector:
        """Return the vector of a text in a model."""
        return HalfVector(embedded(text, model, self.dimensions[model]))

    # --- clients

    def connected(self) -> psycopg.Connection[Any]:
        """Return another connection to the database."""
        db = psycopg.connect(self.db.info.dsn, autocommit=True)
        register_vector(db)
        return db

    def labelled(
        self, db: psycopg.Connection[Any], model: str, query: str, values: dict[str, Any]
    ) -> list[Any]:
        """Run a statement whose vector is labelled by its model."""
        with db.transaction():
            db.execute("select set_config('recall.embedding_model', %s, true)", [model])
            return db.execute(query.encode(), values).fetchall()

    def renewing(
        self, db: psycopg.Connection[Any], known: list[str], query: str, values: dict[str, Any]
    ) -> bool:
        """Run a statement with the vector of its text; return whether it was embedded again."""
        made = values | {"vector": self.vector(values["text"], known[0])}
        try:
            self.labelled(db, known[0], query, made)
        except psycopg.Error as error:
            if error.sqlstate != "RC004" or not error.diag.message_detail:
                raise
            known[0] = error.diag.message_detail
            made["vector"] = self.vector(values["text"], known[0])
            self.labelled(db, known[0], query, made)
            return True
        return False

    def read(self) -> None:
        """Search until the end; every fifth search is compared with an exact scan."""
        query = ("select memory_id from recall.search(p_user_id => %(user)s, p_query => %(words)s,"
                 " p_query_embedding => %(vector)s, p_limit => 10)")  # fmt: skip
        known = [OLD]
        with self.connected() as db:
            for number in range(10**9):
                if self.is_over.is_set():
                    return
                is_large = number % 2 == 0
                user = self.large if is_large else self.chance.choice(self.small)
                text = self.sentence(5)
                phase = self.phases[self.phase]
                values = {"user": user, "text": text, "words": None if is_large else text}
                began, worked = time.perf_counter(), processor_ms(db)
                try:
                    if number % 10 == 0:
                        with self.lock:
                            phase.recall.append(self.compared(db, user, text))
                    else:
                        is_renewed = self.renewing(db, known, query, values)
                        with self.lock:
                            phase.renewed += is_renewed
                            phase.waited_ms.append(1000 * (time.perf_counter() - began))
                            times = phase.large_ms if is_large else phase.small_ms
                            if worked is not None:
                                times.append((processor_ms(db) or worked) - worked)
                except psycopg.Error as error:
                    with self.lock:
                        phase.failed.append(f"{error.sqlstate}: {error}")
                with self.lock:
                    phase.searches += 1
                time.sleep(0.01)

    def compared(self, db: psycopg.Connection[Any], user: uuid.UUID, text: str) -> float:
        """Return the share of the ten exactly nearest memories that a search finds."""
        with db.transaction():
            db.execute("set transaction isolation level repeatable read, read only")
            (model,) = db.execute("select recall.get_settings() ->> 'embedding_model'").fetchone()
            vector = self.vector(text, model)
            db.execute("select set_config('recall.embedding_model', %s, true)", [model])
            found = db.execute(
                "select memory_id from recall.search(%s, null, %s, 10)", [user, vector]
            ).fetchall()
            exact = db.execute(EXACT, [user, model, vector]).fetchall()
        return len(set(found) & set(exact)) / len(exact)

    def write(self) -> None:
        """Remember, retract and append until the end."""
        remember = ("select memory_id from recall.remember(p_user_id => %(user)s,"
                    " p_content => %(text)s, p_embedding => %(vector)s)")  # fmt: skip
        known = [OLD]
        with self.connected() as db:
            sessions = {user: db.execute("select recall.open_session(%s, 'gpt-4o-mini')",
                                         [user]).fetchone()[0]
                        for user in (self.large, *self.small[:5])}  # fmt: skip
            for number in range(10**9):
                if self.is_over.is_set():
                    return
                user = [*sessions][number % len(sessions)]
                try:
                    self.renewing(db, known, remember, {"user": user, "text": self.sentence()})
                    db.execute(
                        "select recall.retract_memory(%s, m.memory_id)"
                        "  from recall.memory_store as m"
                        " where m.user_id = %s and m.ended_at is null limit 1",
                        [user, user],
                    )
                    said = Jsonb([{"role": "user", "content": self.sentence(20)}])
                    db.execute("select from recall.append_messages(%s, %s, %s)",
                               [user, sessions[user], said])  # fmt: skip
                    self.writes += 3
                except psycopg.Error as error:
                    self.errors.append(f"write: {error}")
                time.sleep(0.1)

    def work(self) -> None:
        """Make vectors of both models, and run the maintenance, until the end."""
        worker = {"embedding_models": [OLD, NEW]}
        kinds = ["embed", f"embed:{OLD}", f"embed:{NEW}"]

        def answer(request: dict[str, Any]) -> dict[str, Any]:
            return {"vectors": [embedded(text, request["model"], self.dimensions[request["model"]])
                                for text in request["inputs"]]}  # fmt: skip

        with self.connected() as db:
            while not self.is_over.is_set():
                try:
                    for _ in do_due_jobs(db, worker, answer, kinds=kinds):
                        if self.is_over.is_set():
                            return
                    db.execute("select from recall.migrate_embeddings()")
                except (psycopg.Error, RuntimeError) as error:
                    self.errors.append(f"worker: {error}")
                time.sleep(0.05)

    # --- the course

    def state(self) -> str:
        """Return the state of the change."""
        row = self.db.execute("select state from recall.get_embedding_migration()").fetchone()
        return str(row[0]) if row else ""

    def until(self, state: str, seconds: float = 3_600) -> None:
        """Wait until the change has a state."""
        limit = time.monotonic() + seconds
        while self.state() != state:
            if self.errors or time.monotonic() > limit:
                raise RuntimeError(f"the change is {self.state()}, not {state}: {self.errors[:3]}")
            time.sleep(0.05)

    def run(self, seconds: float) -> dict[str, Any]:
        """Change the model under load; the quiet phases take so many seconds each."""
        threads = [threading.Thread(target=target)
                   for target in (self.read, self.read, self.write, self.work)]  # fmt: skip
        for thread in threads:
            thread.start()
        try:
            time.sleep(seconds)
            self.phase = PHASES[1]
            began = time.monotonic()
            self.db.execute("select recall.start_embedding_migration(%s, %s, '1 day')",
                            [NEW, self.dimensions[NEW]])  # fmt: skip
            self.until("switched")
            took = time.monotonic() - began
            self.phase = PHASES[2]
            time.sleep(seconds)
            self.db.execute("update recall.embedding_migrations set keep_old = '0'")
            self.until("done")
            self.db.execute("vacuum analyze recall.memory_embedding")
            self.phase = PHASES[3]
            time.sleep(seconds)
        finally:
            self.is_over.set()
            for thread in threads:
                thread.join()
        left = self.db.execute(
            "select count(*) filter (where embedding_model = %s), count(*)"
            "  from recall.memory_embedding", [OLD]).fetchone()  # fmt: skip
        return {
            "seconds": took,
            "writes": self.writes,
            "errors": self.errors,
            "old_vectors": left[0] if left else None,
            "new_vectors": left[1] - left[0] if left else None,
            "phases": {name: self.phases[name].figures() for name in PHASES},
            "failed": [said for one in self.phases.values() for said in one.failed],
        }


def measure(
    dsn: str | None, *, memories: int = 20_000, before: int = 384, after: int = 768,
    seconds: float = 20, prepare: Callable[[Migration], object] = lambda _: None,
) -> dict[str, Any]:  # fmt: skip
    """Change the model of a fresh database under load, and return the figures."""
    with ExitStack() as stack:
        db = stack.enter_context(database(dsn, dimensions=before))
        migration = Migration(db, memories, before, after)
        prepare(migration)
        return migration.run(seconds)


def table(figures: dict[str, Any]) -> str:
    """Return a Markdown table of the phases."""
    names = [
        "",
        "searches",
        "failed",
        "embedded again",
        "recall@10, mean (least)",
        "large user, ms (÷ before)",
        "ordinary user, ms (÷ before)",
        "p95 at the client, ms",
    ]
    lines = [f"| {' | '.join(names)} |", "|---" * len(names) + "|"]  # fmt: skip
    first = figures["phases"][PHASES[0]]
    for name, one in figures["phases"].items():
        lines.append(
            f"| {name} | {one['searches']:,} | {one['failed']} | {one['renewed']} |"
            f" {one['recall']:.3f} ({one['least_recall']:.1f}) |"
            + "".join(f" {one[key]:.2f} ({one[key] / first[key]:.2f}) |"
                      for key in ("large_ms", "small_ms"))
            + f" {one['p95_ms']:.0f} |"
        )  # fmt: skip
    return "\n".join(lines)


def main() -> None:
    """Measure, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--dsn")
    parser.add_argument("--memories", type=int, default=20_000)
    parser.add_argument("--from", dest="before", type=int, default=384)
    parser.add_argument("--to", dest="after", type=int, default=768)
    parser.add_argument("--seconds", type=float, default=20)
    given = parser.parse_args()
    figures = measure(given.dsn, memories=given.memories, before=given.before, after=given.after,
                      seconds=given.seconds)  # fmt: skip
    print(table(figures))
    print(
        f"\nThe change took {figures['seconds']:.0f} s, with {figures['writes']} writes beside it;"
        f" {figures['new_vectors']:,} new vectors, {figures['old_vectors']} old ones left."
    )
    if figures["failed"] or figures["errors"]:
        sys.exit("\n".join([*figures["failed"], *figures["errors"]][:20]))


if __name__ == "__main__":
    main()
