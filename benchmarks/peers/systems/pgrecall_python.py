"""pgrecall through its blocking driver: an AgentMemory in each process, workers in others."""

from __future__ import annotations

import json
import re
import threading
import time
import uuid
from collections.abc import Mapping, Sequence
from datetime import timedelta
from types import SimpleNamespace
from typing import Any

import psycopg
from psycopg.conninfo import make_conninfo
from psycopg.types.json import Jsonb

from harness import Contender, Data, load_contender
from load_host import CHAT_MODEL, Client, Clock, System
from pgrecall import AgentMemory, ChatSession, Limits, ModelSettings
from pgrecall.models import ChatModel

EXPIRING = 0.1  # of the memories end during the load
SWEEP_SECONDS = 20  # between two runs of a maintenance task
TURN = re.compile(r"^\[(\d+)\] user: (.*)$", re.MULTILINE)
CANDIDATE = re.compile(r"^(\d+)\. ", re.MULTILINE)


class _Instant(ChatModel):
    """A model that answers at once: a fact for every third message of the user, ADD, no merges."""

    def complete(self, request: Mapping[str, Any]) -> Any:
        said = request["messages"][-1]["content"]
        schema = request["response_format"]["json_schema"]["schema"]["properties"]
        turns = [(int(turn), text) for turn, text in TURN.findall(said)]
        answers: dict[str, Any] = {
            "facts": [
                {"content": f"User asked: {text[:80]} ({uuid.uuid4()})", "kind": "fact",
                 "slot": None, "importance": 0.6, "confidence": "high", "correction": False,
                 "tags": [], "turns": [turn]}
                for turn, text in turns[::3]
            ],
            "episodes": [],
            "decisions": [
                {"candidate": int(number), "decision": "ADD", "target": None}
                for number in CANDIDATE.findall(said)
            ],
            "summary": "The user asked how to do this and that; the assistant named two ways.",
            "merges": [],
            "pattern": None,
            "solutions": [],
            "tags": [],
            "checks": [],
        }  # fmt: skip
        content = json.dumps({key: answers[key] for key in schema})
        return SimpleNamespace(
            choices=[SimpleNamespace(message=SimpleNamespace(content=content, refusal=None),
                                     finish_reason="stop")],
            usage=None,
        )  # fmt: skip


class _Client(Client):
    def __init__(self, memory: AgentMemory) -> None:
        self._memory = memory
        self._chats: dict[str, ChatSession] = {}

    def begin(self, clock: Clock, user: str, session: str) -> None:
        chat = self._memory.session(
            user=uuid.UUID(user), model=CHAT_MODEL, session_id=uuid.UUID(session)
        )
        with clock.timed("open session"):
            chat.open()
        self._chats[session] = chat

    def end(self, session: str) -> None:
        self._chats.pop(session, None)

    def turn(self, clock: Clock, user: str, session: str, question: str, answer: str) -> None:
        chat = self._chats[session]
        with clock.timed("turn"):
            with clock.timed("context"):
                chat.context(question)
            with clock.timed("append"):
                chat.append(user=question, reply=answer)

    def remember(self, user: str, text: str) -> None:
        self._memory.remember(uuid.UUID(user), text)

    def search_messages(self, user: str, query: str) -> Any:
        return self._memory.sessions.search_messages(uuid.UUID(user), query)


class PgrecallPython(System):
    title = "pgrecall, Python"
    packages = ("pgrecall", "psycopg", "psycopg_pool", "pgvector")
    has_background = True
    limits: Limits | None = None

    def __init__(self, dsn: str, data: Data) -> None:
        super().__init__(dsn, data)
        self._driver: Any = load_contender("pgrecall_driver")(dsn, data)
        self._driver.limits = self.limits

    def create(self) -> None:
        driver: Contender = self._driver
        driver.create()
        with psycopg.connect(self.dsn) as db:
            db.execute(
                "select recall.configure_maintenance(t.task, %s)"
                "  from recall.maintenance_tasks as t",
                [Jsonb({"period": f"{SWEEP_SECONDS} seconds"})],
            )

    def load(self, memories: Sequence[Sequence[str]], seconds: float) -> None:
        self.open()
        self._driver.load(memories)
        self.close()
        with psycopg.connect(self.dsn) as db:
            db.execute(
                "update recall.memory_store"
                "   set expires_at = clock_timestamp() + random() * %s where random() < %s",
                [timedelta(seconds=seconds), EXPIRING],
            )

    def open(self) -> None:
        self._driver.open()

    def client(self) -> Client:
        return _Client(self._driver.memory)

    def close(self) -> None:
        self._driver.close()

    def work(self, until: float) -> dict[str, Any]:
        """Run a worker with four jobs at a time; it runs the maintenance, too."""
        self._driver.dsn = make_conninfo(self.dsn, application_name="load background")
        self.open()
        worker = self._driver.memory.worker(
            llm=_Instant(ModelSettings(model=CHAT_MODEL)), concurrency=4, poll_seconds=0.2
        )
        timer = threading.Timer(until - time.monotonic(), worker.stop)
        timer.start()
        try:
            report = worker.run(handle_signals=False)
        finally:
            timer.cancel()
        with psycopg.connect(self.dsn) as db:
            row = db.execute(
                "select count(*) from recall.jobs as j"
                " where j.state = 'ready' and j.run_at <= now()"
            ).fetchone()
        self.close()
        return {
            "done": report.done, "failed": report.failed, "last_error": report.last_error,
            "jobs_waiting": row and row[0],
        }  # fmt: skip
