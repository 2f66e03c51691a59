"""Examine memory end to end: from the messages of a session to the context of a later one.

Conversations in the format of LoCoMo go in turn by turn with their dates, once for each speaker.
That speaker is the user, the other one the assistant. After each session a worker does all due
jobs. The data's own facts stand in for the model. An extraction gets the facts that rest on the
turns shown, at most as many as its schema allows; a consolidation gets ADD. Some facts are marked
medium (one in five) or low (one in ten).

The user then opens a new session for each question and compiles its context, with a thousand tokens
for memories and recalled turns together. Evidence is covered when a memory shown rests on its turn,
or the turn itself is recalled. --year asks the same again after sessions have expired and a year of
maintenance has passed.

    python benchmarks/memory_exam.py --data locomo.json [--year]

The program exits with a message when the data is missing. It is not part of this project.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import psycopg
from psycopg.types.json import Jsonb

from pgrecall import AgentMemory, ChatSession
from pgrecall.models._tokens import count_for_any_model
from pgrecall.rows import CompiledContext
from retrieval_quality import MODEL as EMBEDDING_MODEL
from retrieval_quality import Embeddings, as_text, asked_after
from target import database, do_due_jobs

CHAT_MODEL = "gpt-4o-mini"
WORKER = {"chat_model": CHAT_MODEL, "embedding_model": EMBEDDING_MODEL, "embed_batch": 64}
BUDGET = 1000
STORED_GOAL, COVERED_GOAL = 97.0, 85.0
SHOWN = re.compile(r"^\[(\d+)\] ", re.MULTILINE)
CANDIDATE = re.compile(r"^(\d+)\. ", re.MULTILINE)
SWEEPS = (
    "flush_access_log", "promote_memories", "expire_memories", "decay_memories", "expire_sessions",
    "expire_working", "enqueue_compactions", "enqueue_merges", "enqueue_patterns",
    "enqueue_missing_embeddings",
)  # fmt: skip
KINDS = ("multi_hop", "temporal", "open_domain", "single_hop")


@dataclass
class Fact:
    """A fact of the data, and its fate.

    Attributes:
        evidence: the turns that it rests on, as the data names them.
        fate: stored, merged, over the cap, refused or never asked for.
    """

    text: str
    evidence: tuple[str, ...]
    confidence: str
    fate: str = "never asked for"
    memory_id: UUID | None = None


@dataclass
class Learner:
    """A user: one speaker of a conversation, with the data's facts about that speaker."""

    conversation: dict[str, Any]
    speaker: str
    user: UUID
    facts: list[Fact]
    turns: dict[UUID, list[str]] = field(default_factory=dict)
    """The data's names of the turns of each session, in order."""
    messages: dict[UUID, str] = field(default_factory=dict)
    """The data's name of the turn by message."""


def confidence_of(text: str) -> str:
    """Return the confidence of a fact, the same in each run."""
    place = zlib.crc32(text.encode()) % 10
    return "low" if place == 0 else "medium" if place < 3 else "high"


class Exam:
    """The conversations, the worker and the questions."""

    def __init__(self, db: psycopg.Connection[Any], memory: AgentMemory, data: Path) -> None:
        self.db, self.memory = db, memory
        self.embed = Embeddings(f"exam-{data.stem}")
        self.learners = [
            Learner(conversation, speaker, memory.users.ensure(f"{conversation['id']} {speaker}"),
                    [Fact(fact["text"], tuple(fact["evidence"]), confidence_of(fact["text"]))
                     for fact in conversation["facts"] if fact["speaker"] == speaker])
            for conversation in json.loads(data.read_text())
            for speaker in conversation["speakers"]
        ]  # fmt: skip
        self.outcomes: Counter[str] = Counter()

    # Conversations

    def live(self) -> None:
        """Append all sessions, and do the due jobs after each."""
        for learner in self.learners:
            for session in learner.conversation["sessions"]:
                self.talk(learner, session)
                self.work(learner)

    def talk(self, learner: Learner, session: dict[str, Any]) -> None:
        chat = self.memory.session(user=learner.user, model=CHAT_MODEL, title=str(session["n"]))
        began = datetime.fromisoformat(session["at"])
        names = learner.turns.setdefault(chat.open().session_id, [])
        for number, turn in enumerate(session["turns"]):
            role = "user" if turn["speaker"] == learner.speaker else "assistant"
            at = began + timedelta(seconds=30 * number)
            message = {"role": role, "name": turn["speaker"], "content": turn["text"],
                       "created_at": at.isoformat()}  # fmt: skip
            (appended,) = chat.append([message])
            names.append(turn["id"])
            learner.messages[appended.message_id] = turn["id"]
        chat.close()

    # The worker

    def work(self, learner: Learner) -> None:
        """Do all due jobs, request by request."""
        session: UUID | None = None

        def respond(request: dict[str, Any]) -> dict[str, Any]:
            if request["type"] == "embed":
                return {"vectors": [as_text(vector) for vector in self.embed(request["inputs"])],
                        "token_counts": count_for_any_model(request["inputs"])}  # fmt: skip
            said = self.answer(learner, session, request)
            return {"content": json.dumps(said), "finish_reason": "stop", "latency_ms": 0,
                    "usage": used(request, said)}  # fmt: skip

        for kind, session in do_due_jobs(self.db, WORKER, respond):  # noqa: B007
            self.outcomes[kind] += 1

    def answer(
        self, learner: Learner, session: UUID | None, request: dict[str, Any]
    ) -> dict[str, Any]:
        shown = request["messages"][1]["content"]
        schema = request["response_format"]["json_schema"]["schema"]
        match request["purpose"]:
            case "extract":
                assert session is not None
                return self.extraction(learner, learner.turns[session], shown, schema)
            case "consolidate":
                return {"decisions": [{"candidate": int(number), "decision": "ADD", "target": None}
                                      for number in CANDIDATE.findall(shown)]}  # fmt: skip
            case "merge":
                return {"merges": []}
            case "pattern":
                return {"pattern": None, "solutions": [], "tags": []}
            case _:
                return {"summary": "They talked."}

    def extraction(
        self, learner: Learner, names: list[str], shown: str, schema: dict[str, Any]
    ) -> dict[str, Any]:
        """Return the facts whose last turn is shown, at most as many as the schema allows."""
        numbers = {names[int(number) - 1]: int(number) for number in SHOWN.findall(shown)}
        room = schema["properties"]["facts"].get("maxItems", 1_000_000)
        facts = []
        for fact in learner.facts:
            turns = sorted(numbers[turn] for turn in fact.evidence if turn in numbers)
            if fact.fate != "never asked for" or not turns:
                continue
            fact.fate = "over the cap" if len(facts) == room else "refused"
            if fact.fate == "refused":
                facts.append({"content": fact.text, "kind": "fact", "slot": None,
                              "importance": 0.6, "confidence": fact.confidence,
                              "correction": False, "tags": [], "turns": turns[-8:]})  # fmt: skip
        return {"facts": facts, "episodes": []}

    # Facts

    def settle(self) -> None:
        """Look up the fate of each fact in a response."""
        for learner in self.learners:
            known = dict(self.db.execute(
                "select content, memory_id from recall.memory_store where user_id = %s",
                [learner.user],
            ).fetchall())  # fmt: skip
            repeated = dict(self.db.execute(
                "select detail ->> 'content', memory_id from recall.memory_events"
                " where user_id = %s and event = 'duplicate'",
                [learner.user],
            ).fetchall())  # fmt: skip
            for fact in learner.facts:
                if fact.fate != "refused":
                    continue
                if fact.text in known:
                    fact.fate, fact.memory_id = "stored", known[fact.text]
                elif fact.text in repeated:
                    fact.fate, fact.memory_id = "merged", repeated[fact.text]

    def fates(self) -> Iterator[str]:
        """Yield the table of the facts' fates."""
        self.settle()
        facts = [fact for learner in self.learners for fact in learner.facts]
        yield "| fact | high | medium | low | all | share |"
        yield "|---|---|---|---|---|---|"
        for fate in ("stored", "merged", "over the cap", "refused", "never asked for"):
            yield fate_line(fate, facts, lambda fact, fate=fate: fact.fate == fate)  # type: ignore[misc]
        reached = {
            memory.memory_id for learner in self.learners for memory in self.reachable(learner)
        }
        yield fate_line("stored, but out of reach of the next session", facts,
                        lambda fact: fact.memory_id is not None
                        and self.end_of_chain(fact.memory_id) not in reached)  # fmt: skip

    def reachable(self, learner: Learner) -> list[Any]:
        """Return the memories that a search in a new session may find."""
        return self.memory.memories.list(learner.user, filter={"scopes": ["global"]}, limit=100_000)

    def end_of_chain(self, memory_id: UUID) -> UUID:
        """Return the memory that finally replaced another."""
        row = self.db.execute(
            "with recursive chain as ("
            " select memory_id, superseded_by from recall.memory_store where memory_id = %s"
            " union all select m.memory_id, m.superseded_by from recall.memory_store as m"
            "   join chain as c on m.memory_id = c.superseded_by)"
            " select memory_id from chain where superseded_by is null",
            [memory_id],
        ).fetchone()
        return row[0] if row else memory_id

    # The questions

    def ask(self) -> Iterator[str]:
        """Yield the table of the evidence that contexts hold, by category."""
        covered: dict[str, list[tuple[float, float, int]]] = {}
        for learner in self.learners:
            origins = {
                row[0]: {learner.messages[turn] for turn in row[1] if turn in learner.messages}
                for row in self.db.execute(
                    "select memory_id, source_turn_ids from recall.memory_store where user_id = %s",
                    [learner.user],
                )
            }
            for question in self.questions(learner):
                context = self.context(learner, question["question"])
                wanted = {*question["evidence"]}
                told = {turn for item in context.memories for turn in origins[item.memory_id]}
                quoted = {learner.messages[turn.message_id] for turn in context.recalled}
                tokens = context.budget["memory"] + context.budget["recalled"]
                assert tokens <= BUDGET, tokens
                figures = (len(wanted & told) / len(wanted),
                           len(wanted & (told | quoted)) / len(wanted), tokens)  # fmt: skip
                covered.setdefault(question["category"], []).append(figures)
        yield ("| questions | how many | evidence in memories | in memories and recalled turns"
               " | tokens |")  # fmt: skip
        yield "|---|---|---|---|---|"
        every = [figures for some in covered.values() for figures in some]
        for name, some in (*((kind, covered.get(kind, [])) for kind in KINDS), ("all", every)):
            if some:
                means = [sum(column) / len(some) for column in zip(*some, strict=True)]
                told, both, tokens = (f"{100 * means[0]:.1f}", f"{100 * means[1]:.1f}",
                                      f"{means[2]:.0f}")  # fmt: skip
                yield f"| {name} | {len(some)} | {told} | {both} | {tokens} |"
        self.covered = 100 * sum(figures[1] for figures in every) / len(every)

    def questions(self, learner: Learner) -> Iterator[dict[str, Any]]:
        """Yield the questions whose evidence is mostly from this speaker."""
        speaker_of = {
            turn["id"]: turn["speaker"]
            for session in learner.conversation["sessions"]
            for turn in session["turns"]
        }
        for question in learner.conversation["questions"]:
            said_by = Counter(speaker_of[turn] for turn in question["evidence"])
            if question["category"] != "adversarial" and (
                said_by.most_common(1)[0][0] == learner.speaker
            ):
                yield question

    def context(self, learner: Learner, question: str) -> CompiledContext:
        chat: ChatSession = self.memory.session(user=learner.user, model=CHAT_MODEL)
        chat.open()
        asked_at = asked_after(learner.conversation).isoformat()
        chat.context(question, embedding=self.embed([question])[0], memory_budget=BUDGET,
                     recalled=True, asked_at=asked_at)  # fmt: skip
        assert chat.last_context is not None
        return chat.last_context

    # A year

    def pass_a_year(self) -> None:
        """Run a year of maintenance week by week, and do the jobs that it enqueues."""
        now = datetime.now(UTC)
        for week in range(1, 53):
            for task in SWEEPS:
                while True:
                    row = self.db.execute(
                        f"select done, more from recall.{task}(p_as_of => %s)".encode(),
                        [now + week * timedelta(days=7)],
                    ).fetchone()
                    if row is None or not row[1]:
                        break
            for learner in self.learners:
                self.work(learner)

    def cost(self) -> str:
        """Return the cost of the models by the endpoint's prices."""
        row = self.db.execute(
            "select sum(prompt_tokens), sum(completion_tokens), sum(cost_microcents) / 1e8,"
            "       (select count(*) from recall.conversation_history)"
            "  from recall.job_phases"
        ).fetchone()
        assert row is not None
        prompt, answers, dollars, turns = row
        return (f"{turns:,} turns; jobs: "
                + ", ".join(f"{count} {kind}" for kind, count in sorted(self.outcomes.items()))
                + f"; {prompt:,} prompt and {answers:,} answer tokens, {dollars:.3f} dollars"
                f" ({20 * float(dollars) / turns:.5f} for 20 turns)")  # fmt: skip


def used(request: dict[str, Any], said: dict[str, Any]) -> dict[str, int]:
    """Estimate the tokens of a call at four characters each."""
    asked = json.dumps([request["messages"], request["response_format"]])
    return {"prompt_tokens": len(asked) // 4, "completion_tokens": len(json.dumps(said)) // 4}


def fate_line(name: str, facts: Sequence[Fact], is_so: Callable[[Fact], bool]) -> str:
    """Return a line of the table of facts."""
    counts = [sum(is_so(fact) for fact in facts if fact.confidence == level)
              for level in ("high", "medium", "low")]  # fmt: skip
    share = 100 * sum(counts) / len(facts)
    return f"| {name} | " + " | ".join(map(str, counts)) + f" | {sum(counts)} | {share:.1f} % |"


def main() -> int:
    """Run the examination and print its tables; exit status 1 when a goal is missed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", type=Path, help="conversations (JSON)")
    parser.add_argument("--dsn", help="a superuser's DSN (default: a temporary embedded server)")
    parser.add_argument("--year", action="store_true", help="ask again after a year")
    parser.add_argument("--set", type=json.loads, default={}, help="settings to try, as JSON")
    options = parser.parse_args()
    if options.data is None or not options.data.exists():
        print("left out: give --data; the data is not part of this project")
        return 0

    with database(options.dsn, dimensions=384) as db:
        settings = {"embedding_model": EMBEDDING_MODEL, "extraction": "llm", "summaries": "none"}
        db.execute("select recall.configure(%s)", [Jsonb(settings | options.set)])
        with AgentMemory.connect(db.info.dsn, embedder=None, llm=None) as memory:
            exam = Exam(db, memory, options.data)
            exam.live()
            print(*exam.fates(), "", *exam.ask(), "", exam.cost(), "", sep="\n", flush=True)
            covered = exam.covered
            if options.year:
                exam.pass_a_year()
                print("After a year:", "", *exam.fates(), "", *exam.ask(), sep="\n")
            facts = [fact for learner in exam.learners for fact in learner.facts]
            kept = 100 * sum(fact.fate in ("stored", "merged") for fact in facts) / len(facts)
    return int(kept < STORED_GOAL or covered < COVERED_GOAL)


if __name__ == "__main__":
    sys.exit(main())
