"""Measure how well `search_messages` finds the evidence of questions about long conversations.

The program loads conversations in the format of LoCoMo (sessions with dates and turns, questions
with the turns that answer them). It uses the public functions, one user for each conversation, and
the real dates. It then asks every question and passes the rankings to the scorer of the data.
Neither is part of this project.

    python benchmarks/retrieval_quality.py --data locomo.json --scorer retrieval_score.py

- `--without neighbor` switches a part of the ranking off.
- `--facts` also ingests the data's facts as memories that cite their turns.
- `--compare` prints one table: vectors alone, words alone, both, the default, each part off.
- `--dates` asks questions that name a time, by settings.date_weight.
- `--tokens` prints how many tokens each ranking needs for the same evidence.
- `--recall 20000` prints the recall of `search` for one user with this many memories.

Without the data or the scorer the program prints a message and ends.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import random
import re
import stat
import subprocess
import sys
import tempfile
import uuid
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import psycopg
from pgvector import HalfVector
from psycopg.types.json import Jsonb

from pgrecall.models import LocalEmbedder, count_text_tokens
from target import database, do_due_jobs

MODEL = "local"
PARTS: dict[str, dict[str, float]] = {
    "vector": {"hybrid_similarity_weight": 0},
    "words": {"hybrid_lexical_weight": 0},
    "neighbor": {"message_neighbor_weight": 0, "message_second_neighbor_weight": 0},
    "session": {"message_session_weight": 0},
    "memory": {"message_memory_weight": 0},
    "speaker": {"message_speaker_weight": 0},
    "feedback": {"message_feedback_weight": 0},
    "dates": {"date_weight": 0},
}


NOT_OWN = ("neighbor", "session", "memory", "speaker", "feedback", "dates")
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


SHARES = (0.5, 0.6, 0.7, 0.8)
TOKENIZER = "gpt-4"
FOR_TOKENS = ("the vector alone", "words alone", "both, nothing else", "`search_messages`",
              "with the facts as memories")  # fmt: skip
Ranking = tuple[list[int], list[bool]]
"""Of each turn found, best first: its tokens, and whether it is evidence."""


CACHE = Path(__file__).resolve().parents[1] / ".cache" / "embeddings"


class Embeddings:
    """The local model, with its vectors cached in a file of a folder that is ours alone.

    Raises:
        PermissionError: others may write to the folder.
    """

    def __init__(self, name: str) -> None:
        CACHE.mkdir(mode=0o700, parents=True, exist_ok=True)
        found = CACHE.lstat()
        if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.geteuid() or found.st_mode & 0o022:
            raise PermissionError(f"{CACHE} is not a folder of this account alone")
        self._cache = CACHE / f"{name}.npz"
        self._known: dict[str, list[float]] = {}
        if self._cache.exists():
            with np.load(self._cache, allow_pickle=False) as kept:
                texts = json.loads(kept["texts"].tobytes())
                self._known = dict(zip(texts, kept["vectors"].tolist(), strict=True))
        self._embedder = LocalEmbedder()

    def __call__(self, texts: list[str]) -> list[list[float]]:
        """Return vectors of 384 numbers in the order of the texts."""
        if missing := sorted({text for text in texts if text not in self._known}):
            self._known |= dict(zip(missing, self._embedder.embed(missing), strict=True))
            self._keep()
        return [self._known[text] for text in texts]

    def _keep(self) -> None:
        texts = np.frombuffer(json.dumps(list(self._known)).encode(), np.uint8)
        vectors = np.array(list(self._known.values()), np.float32)
        with tempfile.NamedTemporaryFile(dir=CACHE, suffix=".npz", delete=False) as file:
            np.savez(file, texts=texts, vectors=vectors)
        Path(file.name).replace(self._cache)


def as_text(vector: list[float]) -> str:
    """Format a vector for the database."""
    return "[" + ",".join(map(str, vector)) + "]"


def one(db: psycopg.Connection[Any], query: str, *values: Any) -> Any:
    """Return the first column of the first row; pass values in order or by name."""
    named = values[0] if values and isinstance(values[0], dict) else values
    row = db.execute(query, named).fetchone()
    return row[0] if row else None


def load(
    db: psycopg.Connection[Any], conversation: dict[str, Any]
) -> tuple[uuid.UUID, dict[str, str], dict[str, str]]:
    """Append a conversation; return its user, turn ids by message id, and the reverse."""
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
    """Do all embed jobs that the appends enqueued."""
    worker = {"embedding_model": one(db, "select embedding_model from recall.settings")}
    for _ in do_due_jobs(
        db, worker, kinds=["embed"],
        respond=lambda request: {"vectors": [as_text(v) for v in embed(request["inputs"])]},
    ):  # fmt: skip
        pass


def ingest_facts(
    db: psycopg.Connection[Any],
    embed: Embeddings,
    user: uuid.UUID,
    conversation: dict[str, Any],
    messages: dict[str, str],
) -> None:
    """Remember the data's facts with the turns that they cite."""
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


def asked_after(conversation: dict[str, Any]) -> datetime:
    """Return the day after the last session of a conversation."""
    sessions = conversation["sessions"]
    return max(datetime.fromisoformat(s["at"]) for s in sessions) + timedelta(days=1)


def rankings(
    db: psycopg.Connection[Any],
    embed: Embeddings,
    user: uuid.UUID,
    conversation: dict[str, Any],
    ids: dict[str, str],
) -> Iterator[dict[str, Any]]:
    """Ask every question the day after the last session; yield the turn ids found, best first."""
    asked_at = asked_after(conversation)
    questions = [q["question"] for q in conversation["questions"]]
    for question, vector in zip(questions, embed(questions), strict=True):
        rows = db.execute(
            "select message_id from recall.search_messages(p_user_id => %s, p_query => %s, "
            "p_query_embedding => %s, p_limit => 100, p_filter => %s)",
            [user, question, HalfVector(vector), Jsonb({"asked_at": asked_at.isoformat()})],
        ).fetchall()
        yield {
            "conversation": conversation["id"],
            "question": question,
            "ranked": [ids[str(row[0])] for row in rows],
        }


def by_date_alone(conversation: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield questions of what a speaker did at the time that answers a question with "When"."""
    for question in conversation["questions"]:
        asked, when = question["question"], str(question["answer"]).strip()
        named = [speaker for speaker in conversation["speakers"] if speaker in asked]
        if question["category"] == "temporal" and named and re.match("When|Which year", asked):
            speaker = min(named, key=asked.index)
            before = "in" if re.fullmatch(r"([A-Z]\w+,? )?(19|20)\d\d", when) else "on"
            yield {
                "question": f"What did {speaker} do {before} {when}?",
                "evidence": question["evidence"],
            }


def held(question: Ranking, evidence: int, budget: int) -> float:
    """Return the share of the evidence inside a budget filled in rank order.

    A turn that does not fit is skipped, as in the scorer of the data.
    """
    found = 0
    for size, is_evidence in zip(*question, strict=True):
        if size <= budget:
            budget -= size
            found += is_evidence
    return found / evidence


def budget_for(questions: Sequence[tuple[Ranking, int]], share: float, most: int) -> int | None:
    """Return the smallest budget whose mean share of the evidence is large enough.

    Steps are ten, above 5,000 a hundred. Each is tried, since a larger budget may hold a long
    turn instead of short ones. None when even `most` tokens hold less.
    """
    for budget in (*range(10, min(most + 10, 5_000), 10), *range(5_000, most + 100, 100)):
        if sum(held(*question, budget) for question in questions) >= share * len(questions):
            return budget
    return None


def sentences(conversations: Sequence[dict[str, Any]], count: int) -> list[str]:
    """Return natural texts up to a count: sentences and facts, then pairs of them."""
    found: dict[str, None] = {}
    for conversation in conversations:
        for session in conversation["sessions"]:
            for turn in session["turns"]:
                found |= dict.fromkeys(re.split(r"(?<=[.!?])\s+", turn["text"]))
        found |= dict.fromkeys(fact["text"] for fact in conversation["facts"])
    single, chance = [text for text in found if len(text) > 15], random.Random(1)
    found = dict.fromkeys(single)
    while len(found) < min(count, len(single) ** 2):  # no more texts or pairs
        found[" ".join(chance.sample(single, 2))] = None
    return list(found)[:count]


def recall(
    db: psycopg.Connection[Any], conversations: Sequence[dict[str, Any]], count: int
) -> Iterator[str]:
    """Yield the rows of a table: the share of the nearest memories that `search` finds.

    One user has real texts and questions, embedded by the local model. Another has random
    vectors, which favor no direction, so that sign bits carry the least information. Among
    equally near memories any counts.
    """
    embedder, chance = LocalEmbedder(), random.Random(2)
    settings = {"embedding_model": MODEL, "extraction": "none"}
    db.execute("select recall.configure(%s)", [Jsonb(settings)])
    questions = [q["question"] for c in conversations for q in c["questions"]][:200]

    def at_random(some: Sequence[str]) -> list[list[float]]:
        return [[chance.gauss(0, 1) for _ in range(384)] for _ in some]

    for what, texts, embed in (
        ("real", sentences(conversations, count), embedder.embed),
        ("random", [f"Memory number {number}" for number in range(count)], at_random),
    ):
        yield from found_of_nearest(db, what, texts, questions, embed)


def found_of_nearest(
    db: psycopg.Connection[Any],
    what: str,
    texts: Sequence[str],
    questions: Sequence[str],
    embed: Callable[[Sequence[str]], list[list[float]]],
) -> Iterator[str]:
    """Yield the rows of one user with these texts."""
    user = uuid.uuid4()
    for first in range(0, len(texts), 500):
        some = texts[first : first + 500]
        db.execute(
            "select from recall.ingest_memories(%s, null, %s, %b)",
            [user, Jsonb([{"content": text, "source": "import"} for text in some]),
             [HalfVector(vector) for vector in embed(some)]],
        )  # fmt: skip
    db.execute("vacuum analyze")
    vectors = [HalfVector(vector) for vector in embed(questions)]
    kept = one(db, "select active_memory_count from recall.users where user_id = %s", user)
    yield f"| of {kept:,} {what} vectors, {len(vectors)} questions | recall | the worst question |"
    yield "|---|---|---|"
    for limit in (10, 50):
        shares = [
            one(
                db,
                "with nearest as materialized ("
                " select e.memory_id, e.embedding <=> %(v)s as distance"
                "   from recall.memory_embedding as e where e.user_id = %(user)s"
                "  order by 2 limit %(limit)s)"
                " select count(*)::float8 / (select count(*) from nearest)"
                "   from recall.search(%(user)s, null, %(v)s, %(limit)s) as s"
                "   join recall.memory_embedding as e on e.user_id = %(user)s"
                "    and e.memory_id = s.memory_id"
                "  where e.embedding <=> %(v)s <= (select max(n.distance) from nearest as n)",
                {"v": vector, "user": user, "limit": limit},
            )
            for vector in vectors
        ]
        mean = sum(shares) / len(shares)
        yield f"| the nearest {limit} | {mean:.4f} | {min(shares):.2f} |"


def sizes(conversation: dict[str, Any]) -> dict[str, int]:
    """Return the tokens of each turn, with its date and speaker, oldest first."""
    return {
        turn["id"]: count_text_tokens(
            f"[{session['at'][:10]}] {turn['speaker']}: {turn['text']}", TOKENIZER
        )
        for session in conversation["sessions"]
        for turn in session["turns"]
    }


class Benchmark:
    """The conversations in a database, asked and scored under varying settings."""

    def __init__(self, db: psycopg.Connection[Any], data: Path, scorer: Path) -> None:
        self.db, self.data, self.scorer = db, data, scorer
        digest = hashlib.sha256(data.read_bytes()).hexdigest()[:12]
        self.embed = Embeddings(f"conversations-{digest}")
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
        """Ask every question and return the scores of the rankings."""
        with tempfile.NamedTemporaryFile("w", suffix=".jsonl") as out:
            for conversation, user, ids, _ in self.loaded:
                for ranking in rankings(self.db, self.embed, user, conversation, ids):
                    out.write(json.dumps(ranking) + "\n")
            out.flush()
            command = [sys.executable, str(self.scorer), str(self.data), out.name, *arguments]
            return subprocess.run(command, check=True, capture_output=True, text=True).stdout

    def rankings(self) -> Iterator[tuple[str, dict[str, Any], list[str]]]:
        """Ask every answerable question; yield conversation, question and ranking."""
        for conversation, user, ids, _ in self.loaded:
            asked = rankings(self.db, self.embed, user, conversation, ids)
            for question, found in zip(conversation["questions"], asked, strict=True):
                if question["category"] != "adversarial":
                    yield conversation["id"], question, found["ranked"]

    def tokens(self) -> Iterator[str]:
        """Yield the rows of a table: the tokens that hold each share of the evidence."""
        of_turns = {c["id"]: sizes(c) for c, *_ in self.loaded}
        owners = [(c["id"], question) for c, *_ in self.loaded for question in c["questions"]
                  if question["category"] != "adversarial"]  # fmt: skip
        whole = max(sum(turns.values()) for turns in of_turns.values())

        def line(name: str, ranked: Sequence[Sequence[str]]) -> str:
            questions = []
            for (owner, question), turns in zip(owners, ranked, strict=True):
                wanted = set(question["evidence"])
                tokens = [of_turns[owner][turn] for turn in turns]
                questions.append(((tokens, [turn in wanted for turn in turns]), len(wanted)))
            budgets = (budget_for(questions, share, whole) for share in SHARES)
            return f"| {name} | " + " | ".join("–" if b is None else f"{b:,}" for b in budgets)

        yield "| tokens that hold so much of the evidence | " + " | ".join(
            f"{share:.0%}" for share in SHARES) + " |"  # fmt: skip
        yield "|---" * (1 + len(SHARES)) + "|"
        yield line("the newest turns", [list(of_turns[owner])[::-1] for owner, _ in owners]) + " |"
        for name, (with_facts, changes) in COMPARED.items():
            if name not in FOR_TOKENS:
                continue
            if with_facts:
                self.add_facts()
            usual = json.loads(one(self.db, "select recall.get_settings()::text"))
            self.configure(changes)
            yield line(name, [ranked for *_, ranked in self.rankings()]) + " |"
            self.configure({key: usual[key] for key in changes})

    def expression(self, text: str, conversation: dict[str, Any]) -> str | None:
        """Return the time in a text as `query_dates` reads it."""
        found: str | None = one(self.db, "select expression from recall.query_dates(%s, %s)",
                                text, asked_after(conversation))  # fmt: skip
        return found

    def dates(self) -> Iterator[str]:
        """Yield the rows of a table: r@10 of questions that name a time, by date_weight.

        Some are the data's own. The others name only a speaker and a time ("What did Caroline do
        on 7 May 2023?"), from the answers to questions with "When".
        """
        own = [
            (owner, [q for q in owner[0]["questions"] if q["category"] != "adversarial"
                     and self.expression(q["question"], owner[0])])
            for owner in self.loaded
        ]  # fmt: skip
        made = [
            (
                owner,
                [q for q in by_date_alone(owner[0]) if self.expression(q["question"], owner[0])],
            )
            for owner in self.loaded
        ]
        usual = json.loads(one(self.db, "select recall.get_settings()::text"))["date_weight"]
        yield "| `date_weight` | " + " | ".join(
            f"r@10 of {sum(len(asked) for _, asked in some)} {kind} (each conversation)"
            for some, kind in ((own, "questions that name a time"), (made, "by date alone"))
        ) + " |"  # fmt: skip
        yield "|---|---|---|"
        for weight in (0, 0.1, usual, 0.5):
            self.configure({"date_weight": weight})
            yield f"| {weight} | " + " | ".join(self.found(some) for some in (own, made)) + " |"
        self.configure({"date_weight": usual})

    def found(self, asked: Sequence[tuple[Any, list[dict[str, Any]]]]) -> str:
        """Return r@10 of questions, of all and of each conversation."""
        shares = [
            [
                len({*question["evidence"]} & {*ranking["ranked"][:10]})
                / len({*question["evidence"]})
                for question, ranking in zip(
                    questions,
                    rankings(self.db, self.embed, user, {**conversation, "questions": questions},
                             ids),
                    strict=True,
                )
            ]
            for (conversation, user, ids, _), questions in asked
        ]  # fmt: skip
        each = ", ".join(f"{100 * sum(some) / len(some):.1f}" for some in shares)
        whole = [share for some in shares for share in some]
        return f"{100 * sum(whole) / len(whole):.1f} ({each})"

    def compare(self) -> Iterator[str]:
        """Yield the rows of a table: each way of ranking beside the others."""
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
    parser.add_argument("--data", type=Path, help="conversations (JSON)")
    parser.add_argument("--scorer", type=Path, help="the data's scorer (Python)")
    parser.add_argument("--dsn", help="a superuser's DSN (default: a temporary embedded server)")
    parser.add_argument("--facts", action="store_true", help="ingest the facts as memories too")
    parser.add_argument("--without", action="append", choices=list(PARTS), default=[])
    parser.add_argument("--set", type=json.loads, default={}, help="settings to try, as JSON")
    parser.add_argument("--compare", action="store_true", help="every way of ranking, in one table")
    parser.add_argument("--dates", action="store_true", help="the questions that name a time")
    parser.add_argument("--tokens", action="store_true", help="tokens for equal evidence")
    parser.add_argument("--recall", type=int, metavar="MEMORIES", help="of one user's memories")
    parser.add_argument("--json", action="store_true", help="the scorer's JSON")
    options = parser.parse_args()
    for name, path in (("--data", options.data), ("--scorer", options.scorer)):
        if path is None or not path.exists():
            print(f"left out: {f'{path} is not there' if path else f'give {name}'}; "
                  "the data is not part of this project")  # fmt: skip
            return 0

    with database(options.dsn, dimensions=384) as db:
        if options.recall:
            for line in recall(db, json.loads(options.data.read_text()), options.recall):
                print(line, flush=True)
            return 0
        benchmark = Benchmark(db, options.data, options.scorer)
        benchmark.configure(options.set)
        tables = {benchmark.compare: options.compare, benchmark.dates: options.dates,
                  benchmark.tokens: options.tokens}  # fmt: skip
        if any(tables.values()):
            for table, is_asked in tables.items():
                for line in table() if is_asked else ():
                    print(line, flush=True)
            return 0
        if options.facts:
            benchmark.add_facts()
        benchmark.configure({k: v for part in options.without for k, v in PARTS[part].items()})
        print(benchmark.score(*["--json"] * options.json), end="")
    return 0


if __name__ == "__main__":
    sys.exit(main())
