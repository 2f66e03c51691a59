"""mem0 (infer=False) for memories and the SDK's SQLAlchemySession for the conversation.

Threads of a process share the Memory. Each thread has an engine and an event loop of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from harness import Data, load_contender
from load_host import MEMORIES, Client, Clock, System


class _Client(Client):
    def __init__(self, memory: Any, session: Any) -> None:
        self._memory = memory
        self._session = session
        session.open()

    def end(self, session: str) -> None:
        self._session.sessions.pop(session, None)

    def turn(self, clock: Clock, user: str, session: str, question: str, answer: str) -> None:
        with clock.timed("turn"):
            with clock.timed("context"):
                self._memory.search(user, question, MEMORIES)
                self._session.read(user, session)
            with clock.timed("append"):
                self._session.append(user, session, question, answer)

    def remember(self, user: str, text: str) -> None:
        self._memory.add(user, text)

    def close(self) -> None:
        self._session.close()


class Mem0Agents(System):
    title = "mem0, infer=False, and Agents SDK session"
    packages = ("mem0ai", "openai-agents", "SQLAlchemy", "asyncpg", "psycopg")

    def __init__(self, dsn: str, data: Data) -> None:
        super().__init__(dsn, data)
        self._memory: Any = load_contender("mem0_memory")(dsn, data)
        self._session = load_contender("agents_session")

    def create(self) -> None:
        self._memory.create()
        self._session(self.dsn, self.data).create()

    def load(self, memories: Sequence[Sequence[str]], seconds: float) -> None:
        self._memory.load(memories)

    def open(self) -> None:
        self._memory.open()

    def client(self) -> Client:
        return _Client(self._memory, self._session(self.dsn, self.data))

    def close(self) -> None:
        self._memory.close()
