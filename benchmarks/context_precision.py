"""Measure how much of a context is needed, and what it packs for an off-topic question.

Users with ten memories each get the labeled questions of context_questions.txt. The local model
embeds the memories. Precision is the share of the packed memories that the answer needs. Recall is
the share of the needed memories that were packed. A context for an off-topic question should hold
nothing; it counts as nearly empty with one memory.

With --data, the memories are the facts of conversations in the format of LoCoMo. A fact that rests
on a turn of the evidence is needed. That data is not part of this project.

    python benchmarks/context_precision.py [--dsn DSN] [--data locomo.json] [--part tuned|held]
"""

from __future__ import annotations

import argparse
import json
import sys
import uuid
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psycopg
from pgvector import HalfVector
from psycopg.types.json import Jsonb

from retrieval_quality import Embeddings
from target import database

QUESTIONS = Path(__file__).with_name("context_questions.txt")
BUDGET = 1_000
PARTS = {"tuned": (False,), "held": (True,), "all": (False, True)}


@dataclass(frozen=True, slots=True)
class Question:
    """A question, and the texts or turns that its answer needs.

    Attributes:
        text: the question.
        needed: memories by number, or turns of the evidence.
        is_held_out: whether the score was tuned without it.
    """

    text: str
    needed: frozenset[Any] = frozenset()
    is_held_out: bool = False


@dataclass(slots=True)
class Labeled:
    """The labeled file: memories and questions by user, and questions for all users."""

    memories: dict[str, list[str]] = field(default_factory=dict)
    questions: dict[str, list[Question]] = field(default_factory=dict)
    about: list[Question] = field(default_factory=list)
    off_topic: list[Question] = field(default_factory=list)


def read_questions(path: Path = QUESTIONS) -> Labeled:
    """Read the labeled file."""
    labeled, section = Labeled(), ""
    for line in path.read_text(encoding="utf-8").splitlines():
        if not line or line.startswith("#"):
            continue
        if line.startswith("["):
            section = line.strip("[]")
            continue
        label, text, *rest = line.split(" | ")
        is_held_out = rest == ["held out"]
        user = section.removeprefix("user ")
        if section == "off topic":
            labeled.off_topic.append(Question(text, is_held_out=is_held_out))
        elif section == "about the user":
            labeled.about.append(Question(text, is_held_out=is_held_out))
        elif label.startswith("?"):
            needed = frozenset(int(number) for number in label[1:].split())
            labeled.questions.setdefault(user, []).append(Question(text, needed, is_held_out))
        else:
            labeled.memories.setdefault(user, []).append(text)
    return labeled


class Contexts:
    """Users in a database, and the memories that their contexts pack."""

    def __init__(self, db: psycopg.Connection[Any], embed: Embeddings) -> None:
        self.db, self.embed = db, embed
        self.sessions: dict[str, tuple[uuid.UUID, uuid.UUID]] = {}
        db.execute(
            "select recall.configure(%s)",
            [Jsonb({"embedding_model": "local", "extraction": "none"})],
        )

    def add(self, name: str, texts: Sequence[str]) -> None:
        """Remember texts for a new user, and open a session."""
        user = uuid.uuid4()
        self.db.execute(
            "select from recall.ingest_memories(%s, null, %s, %s)",
            [user, Jsonb([{"content": text, "source": "import"} for text in texts]),
             [HalfVector(vector) for vector in self.embed(list(texts))]],
        )  # fmt: skip
        row = self.db.execute(
            "select recall.open_session(p_user_id => %s, p_model_id => 'gpt-4o-mini')", [user]
        ).fetchone()
        assert row is not None
        self.sessions[name] = user, row[0]

    def packed(self, name: str, question: str, least: float | None) -> list[str]:
        """Return the texts that a context packs for a question."""
        (vector,) = self.embed([question])
        options = {"memory_budget": BUDGET, "dates": False}
        if least is not None:
            options["min_match"] = least
        rows = self.db.execute(
            "select content from recall.explain_context(%s, %s, %s, %s, %s) where taken",
            [*self.sessions[name], question, HalfVector(vector), Jsonb(options)],
        ).fetchall()
        return [row[0] for row in rows]


@dataclass(slots=True)
class Share:
    """Sums over questions.

    Attributes:
        right: packed memories that are needed.
        packed: packed memories.
        covered: sum of the shares of needed memories that are packed.
        complete: questions with all needed memories packed.
        empty: questions with no memory packed.
        nearly: questions with at most one memory packed.
        asked: questions.
    """

    right: int = 0
    packed: int = 0
    covered: float = 0
    complete: int = 0
    empty: int = 0
    nearly: int = 0
    asked: int = 0

    def add(self, needs: Sequence[frozenset[Any]], needed: frozenset[Any]) -> None:
        """Count one question by the needs of each packed memory, and all needs."""
        found = frozenset[Any]().union(*needs) & needed
        self.right += sum(bool(need & needed) for need in needs)
        self.packed += len(needs)
        self.covered += len(found) / len(needed) if needed else 0
        self.complete += found == needed
        self.empty += not needs
        self.nearly += len(needs) <= 1
        self.asked += 1

    def row(self, what: str, least: str) -> str:
        """Return a row for questions that need memories."""
        return (
            f"| {what} | {least} | {self.asked} | {self.right / max(1, self.packed):.2f} | "
            f"{self.covered / self.asked:.2f} | {self.complete} | {self.packed / self.asked:.1f} |"
        )

    def row_of_none(self, what: str, least: str) -> str:
        """Return a row for questions that need none."""
        return (
            f"| {what} | {least} | {self.asked} | {self.empty / self.asked:.0%} "
            f"| {self.nearly / self.asked:.0%} | {self.packed / self.asked:.1f} |"
        )


def needs_of(
    contexts: Contexts, name: str, question: Question, least: float | None, of: dict[str, Any]
) -> list[frozenset[Any]]:
    """Return the needs that each packed memory meets."""
    return [of[text] for text in contexts.packed(name, question.text, least)]


def measure(
    contexts: Contexts,
    asked: Iterable[tuple[str, Question]],
    of: dict[str, dict[str, Any]],
    least: float | None,
) -> Share:
    """Count the contexts of some questions."""
    share = Share()
    for name, question in asked:
        share.add(needs_of(contexts, name, question, least, of[name]), question.needed)
    return share


def tables(
    contexts: Contexts, labeled: Labeled, part: Sequence[bool], facts: Sequence[dict[str, Any]]
) -> Iterator[str]:
    """Yield the lines of two tables: questions that need memories, and questions that need none."""
    of: dict[str, dict[str, Any]] = {}
    for name, texts in labeled.memories.items():
        contexts.add(name, texts)
        of[name] = {text: frozenset({n}) for n, text in enumerate(texts, start=1)}
    for conversation in facts:
        name = conversation["id"]
        good_for: dict[str, frozenset[Any]] = {}
        for fact in conversation["facts"]:
            good_for[fact["text"]] = good_for.get(fact["text"], frozenset()) | {*fact["evidence"]}
        contexts.add(name, list(good_for))
        of[name] = good_for

    needing = [(name, q) for name, qs in labeled.questions.items() for q in qs]
    sets = {"users with ten memories": [(n, q) for n, q in needing if q.is_held_out in part]}
    if facts:
        sets["LoCoMo, its facts as memories"] = [
            (c["id"], Question(q["question"], frozenset(q["evidence"])))
            for c in facts for q in c["questions"] if q["evidence"]
        ]  # fmt: skip
    without = {
        "off topic": [(n, q) for q in labeled.off_topic for n in labeled.memories],
        "off topic, LoCoMo": [(c["id"], q) for q in labeled.off_topic for c in facts],
        "about the user": [(n, q) for q in labeled.about for n in labeled.memories],
    }
    least: dict[str, float | None] = {"none (0)": 0, "default": None}

    yield "| questions | min_match | asked | precision | recall | all needed | packed |"
    yield "|---|---|---|---|---|---|---|"
    for what, asked in sets.items():
        for name, value in least.items():
            yield measure(contexts, asked, of, value).row(what, name)
    yield ""
    yield "| questions | min_match | asked | empty | nearly empty | packed |"
    yield "|---|---|---|---|---|---|"
    for what, asked in without.items():
        some = [(name, question) for name, question in asked if question.is_held_out in part]
        for name, value in least.items() if some else ():
            yield measure(contexts, some, of, value).row_of_none(what, name)


def main() -> None:
    """Measure and print tables."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--dsn", help="a superuser's DSN of a server with pgvector")
    parser.add_argument("--data", type=Path, help="conversations (JSON), their facts as memories")
    parser.add_argument("--part", choices=list(PARTS), default="all", help="of the labeled file")
    options = parser.parse_args()

    facts = json.loads(options.data.read_text()) if options.data else []
    embed = Embeddings("contexts")
    with database(options.dsn, dimensions=384) as db:
        contexts = Contexts(db, embed)
        for line in tables(contexts, read_questions(), PARTS[options.part], facts):
            print(line, flush=True)


if __name__ == "__main__":
    sys.exit(main())
