"""How well `search_messages` finds the evidence of questions about long conversations.

Loads conversations in the format of LoCoMo (sessions with dates and turns, questions with the turns
that answer them) through the public functions, one user each with the real dates, asks every
question, and scores the rankings with the scorer that comes with the data. Neither is part of this
project.

    python benchmarks/retrieval_quality.py --data locomo.json --scorer retrieval_score.py
    … --without neighbor …       switch a part of the ranking off, to see what it is worth
    … --facts                    also ingest the data's facts as memories that cite their turns
    … --compare                  vectors alone, words alone, both, ours, each part off: one table
"""

from __future__ import annotations

import argparse
import hashlib
import json
import pickle
import subprocess
import sys
import tempfile
import uuid
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import psycopg
from pgvector import HalfVector
from psycopg.types.json import Jsonb

from pgrecall.embedding import LocalEmbedder
from target import database

MODEL = "local"
PARTS: dict[str, dict[str, float]] = {
    "vector": {"hybrid_similarity_weight": 0},
    "words": {"hybrid_lexical_weight": 0},
    "neighbor": {"message_neighbor_weight": 0, "message_second_neighbor_weight": 0},
    "session": {"message_session_weight": 0},
    "memory": {"message_memory_weight": 0},
    "speaker": {"message_speaker_weight": 0},
    "feedback": {"message_feedback_weight": 0},
}


NOT_OWN = ("neighbor", "session", "memory", "speaker", "feedback")
ALONE = {setting: 0 for part in NOT_OWN for setting in PARTS[part]}
COMPARED: dict[str, tuple[bool, dict[str, float]]] = {
    "the vector alone": (False, ALONE | PARTS["words"]),
    "words alone": (False, ALONE | PARTS["vector"]),
    "both, nothing else": (False, ALONE),
    "`search_messages`": (False, {}),
    **{f"… without {part}": (False, PARTS[part]) for part in PARTS if part != "memory"},
    "with the facts as memories": (True, {}),
    **{f"… without {part}, with facts": (True, PARTS[part]) for part in ("speaker", "feedback")},
}


class Embeddings:
    """The local model, with what it has embedded kept in a file."""

    def __init__(self, cache: Path) -> None:
        self._cache = cache
        self._known: dict[str, list[float]] = (
            pickle.loads(cache.read_bytes()) if cache.exists() else {}
        )
        self._embedder = LocalEmbedder()

    def __call__(self, texts: list[str]) -> list[list[float]]:
        """Vectors of 384 numbers, in the order of the texts."""
        if missing := sorted({text for text in texts if text not in self._known}):
            self._known |= dict(zip(missing, self._embedder.embed(missing), strict=True))
            self._cache.write_bytes(pickle.dumps(self._known))
        return [self._known[text] for text in texts]


def as_text(vector: list[float]) -> str:
    """Write a vector as the database reads it."""
    return "[" + ",".join(map(str, vector)) + "]"


def one(db: psycopg.Connection[Any], query: str, *values: object) -> Any:
    """Return the first column of the first row."""
    row = db.execute(query, values).fetchone()
    return row[0] if row else None


def load(
    db: psycopg.Connection[Any], conversation: dict[str, Any]
) -> tuple[uuid.UUID, dict[str, str], dict[str, str]]:
    """Append a conversation; returns its user, turn ids by message id, and the reverse."""
    user = one(db, "select recall.ensure_user(%s)", conversation["id"])
    ids: dict[str, str] = {}
    for session in conversation["sessions"]:
        began = datetime.fromisoformat(session["at"])
        session_id = one(
            db,
            "select recall.open_session(p_user_id => %s, p_model_id => 'gpt-4o-mini', "
            "p_title => %s)",
            user,
            str(session["n"]),
        )
        messages = [
            {
                "role": "user" if turn["speaker"] == conversation["speakers"][0] else "assistant",
                "name": turn["speaker"],
                "content": turn["text"],
                "created_at": (began + timedelta(seconds=30 * number)).isoformat(),
                "metadata": {"id": turn["id"]},
            }
            for number, turn in enumerate(session["turns"])
        ]
        rows = db.execute(
            "select message_id from recall.append_messages(%s, %s, %s)",
            [user, session_id, Jsonb(messages)],
        ).fetchall()
        ids |= {str(row[0]): t["id"] for row, t in zip(rows, session["turns"], strict=True)}
    return user, ids, {turn: message for message, turn in ids.items()}


def work(db: psycopg.Connection[Any], embed: Embeddings) -> None:
    """Be the worker: take the embed jobs that the appends left, until there are none."""
    while job := db.execute(
        "select user_id, job_id, lease_token from recall.claim_jobs('benchmark', '{embed}')"
    ).fetchone():
        given = one(db, "select recall.job_input(%s, %s, %s)", *job)
        result: dict[str, Any] = {"embedding_model": given["model"]}
        if "through_turn" in given:
            result["through_turn"] = given["through_turn"]
        for kind, key in (("messages", "turn_index"), ("memories", "memory_id")):
            vectors = embed([item["text"] for item in given[kind]])
            result[kind] = [
                {key: item[key], "embedding": as_text(vector)}
                for item, vector in zip(given[kind], vectors, strict=True)
            ]
        one(db, "select recall.finish_job(%s, %s, %s, %s)", *job, Jsonb(result))


def ingest_facts(
    db: psycopg.Connection[Any],
    embed: Embeddings,
    user: uuid.UUID,
    conversation: dict[str, Any],
    messages: dict[str, str],
) -> None:
    """Remember the data's facts with the turns they rest on."""
    facts = conversation["facts"]
    candidates = [
        {
            "content": fact["text"],
            "source": "import",
            "source_turn_ids": [messages[t] for t in fact["evidence"] if t in messages],
        }
        for fact in facts
    ]
    vectors = [HalfVector(v) for v in embed([fact["text"] for fact in facts])]
    db.execute(
        "select from recall.ingest_memories(%s, null, %s, %s)", [user, Jsonb(candidates), vectors]
    )


def rankings(
    db: psycopg.Connection[Any],
    embed: Embeddings,
    user: uuid.UUID,
    conversation: dict[str, Any],
    ids: dict[str, str],
) -> Iterator[dict[str, Any]]:
    """Ask every question; yield the turn ids found, best first."""
    questions = [q["question"] for q in conversation["questions"]]
    for question, vector in zip(questions, embed(questions), strict=True):
        rows = db.execute(
            "select message_id from recall.search_messages(p_user_id => %s, p_query => %s, "
            "p_query_embedding => %s, p_limit => 100)",
            [user, question, HalfVector(vector)],
        ).fetchall()
        yield {
            "conversation": conversation["id"],
            "question": question,
            "ranked": [ids[str(row[0])] for row in rows],
        }


class Benchmark:
    """The conversations in a database, asked and scored with one setting or another."""

    def __init__(self, db: psycopg.Connection[Any], data: Path, scorer: Path) -> None:
        self.db, self.data, self.scorer = db, data, scorer
        digest = hashlib.sha256(data.read_bytes()).hexdigest()[:12]
        self.embed = Embeddings(
            Path(tempfile.gettempdir()) / f"pgrecall-embeddings-{digest}.pickle"
        )
        self.configure({"embedding_model": MODEL, "extraction": "none"})
        self.loaded = [(c, *load(db, c)) for c in json.loads(data.read_text())]
        work(db, self.embed)

    def configure(self, changes: dict[str, Any]) -> None:
        self.db.execute("select recall.configure(%s)", [Jsonb(changes)])

    def add_facts(self) -> None:
        for conversation, user, _, messages in self.loaded:
            ingest_facts(self.db, self.embed, user, conversation, messages)
        work(self.db, self.embed)

    def score(self, *arguments: str) -> str:
        """Ask every question; what the scorer says of the rankings."""
        with tempfile.NamedTemporaryFile("w", suffix=".jsonl") as out:
            for conversation, user, ids, _ in self.loaded:
                for ranking in rankings(self.db, self.embed, user, conversation, ids):
                    out.write(json.dumps(ranking) + "\n")
            out.flush()
            command = [sys.executable, str(self.scorer), str(self.data), out.name, *arguments]
            return subprocess.run(command, check=True, capture_output=True, text=True).stdout

    def compare(self) -> Iterator[str]:
        """Yield the lines of a table: each way of ranking beside the others."""
        kinds = ("multi_hop", "temporal", "open_domain", "single_hop")
        yield "| | r@10 | cov@1000 | MRR | " + " | ".join(f"r@10 {kind}" for kind in kinds) + " |"
        yield "|---" * (4 + len(kinds)) + "|"
        usual = json.loads(one(self.db, "select recall.get_settings()::text"))
        has_facts = False
        for name, (with_facts, changes) in COMPARED.items():
            if with_facts and not has_facts:
                self.add_facts()
                has_facts = True
            self.configure(changes)
            said = json.loads(self.score("--json"))
            self.configure({key: usual[key] for key in changes})
            whole = said["all answerable"]
            figures = [whole["r@10"], whole["cov@1000"], whole["mrr"]]
            figures += [said[kind]["r@10"] for kind in kinds]
            yield f"| {name} | " + " | ".join(map(str, figures)) + " |"


def main() -> int:
    """Run the benchmark and print the scorer's table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, help="conversations (JSON)")
    parser.add_argument("--scorer", type=Path, required=True, help="the data's scorer (Python)")
    parser.add_argument("--dsn", help="a superuser's DSN (default: a temporary embedded server)")
    parser.add_argument("--facts", action="store_true", help="ingest the facts as memories too")
    parser.add_argument("--without", action="append", choices=list(PARTS), default=[])
    parser.add_argument("--set", type=json.loads, default={}, help="settings to try, as JSON")
    parser.add_argument("--compare", action="store_true", help="every way of ranking, in one table")
    parser.add_argument("--json", action="store_true", help="the scorer's JSON")
    options = parser.parse_args()
    for path in (options.data, options.scorer):
        if not path.exists():
            print(f"{path} is not there: the data is not part of this project", file=sys.stderr)
            return 1

    with database(options.dsn, dimensions=384) as db:
        benchmark = Benchmark(db, options.data, options.scorer)
        benchmark.configure(options.set)
        if options.compare:
            for line in benchmark.compare():
                print(line, flush=True)
            return 0
        if options.facts:
            benchmark.add_facts()
        benchmark.configure({k: v for part in options.without for k, v in PARTS[part].items()})
        print(benchmark.score(*["--json"] * options.json), end="")
    return 0


if __name__ == "__main__":
    sys.exit(main())
