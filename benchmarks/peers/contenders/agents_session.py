"""OpenAI Agents SDK: SQLAlchemySession over asyncpg."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Coroutine
from typing import Any

os.environ["OPENAI_AGENTS_DISABLE_TRACING"] = "1"

from agents.extensions.memory import SQLAlchemySession
from sqlalchemy.ext.asyncio import create_async_engine

from harness import LAST, Contender, sqlalchemy_url


class AgentsSession(Contender):
    title = "OpenAI Agents SQLAlchemySession"
    packages = ("openai-agents", "SQLAlchemy", "asyncpg")
    measures = frozenset({"conversation"})

    def create(self) -> None:
        self.open()
        self._run(self._session("nobody", create_tables=True).get_items())
        self.close()

    def open(self) -> None:
        self.engine = create_async_engine(sqlalchemy_url(self.dsn))
        self.loop = asyncio.new_event_loop()
        self.sessions: dict[str, SQLAlchemySession] = {}

    def close(self) -> None:
        self._run(self.engine.dispose())
        self.loop.close()

    def append(self, user: str, session: str, question: str, answer: str) -> None:
        self._run(
            self._session(session).add_items(
                [{"role": "user", "content": question}, {"role": "assistant", "content": answer}]
            )
        )

    def read(self, user: str, session: str) -> list[str]:
        items = self._run(self._session(session).get_items(limit=LAST))
        return [item["content"] for item in items]

    def _session(self, session: str, *, create_tables: bool = False) -> SQLAlchemySession:
        if session not in self.sessions:
            self.sessions[session] = SQLAlchemySession(
                session, engine=self.engine, create_tables=create_tables
            )
        return self.sessions[session]

    def _run(self, work: Coroutine[Any, Any, Any]) -> Any:
        return self.loop.run_until_complete(work)
