"""pgrecall through its blocking Python driver, with the default settings."""

from __future__ import annotations

import itertools
import operator
import uuid
from collections.abc import Sequence
from typing import Any

import psycopg

import pgrecall.schema
from harness import LAST, Contender, Data
from pgrecall import AgentMemory, ChatSession, Limits


class _Embedder:
    def __init__(self, data: Data, model: str) -> None:
        self.model = model
        self.dimensions = data.dimensions
        self._data = data

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        return [self._data.embed(text) for text in texts]


class PgrecallDriver(Contender):
    title = "pgrecall, Python"
    packages = ("pgrecall", "psycopg", "psycopg_pool", "pgvector")
    measures = frozenset({"memory", "conversation", "context"})
    loading = "ingest, a run of ten a call"
    limits: Limits | None = None
    note = "tokens are counted exactly; search by a text ranks by words, too"

    def create(self) -> None:
        with psycopg.connect(self.dsn, autocommit=True) as db:
            pgrecall.schema.install(db, embedding_dimensions=self.data.dimensions, share_roles=True)

    def open(self) -> None:
        with psycopg.connect(self.dsn) as db:
            row = db.execute("select recall.get_settings() ->> 'embedding_model'").fetchone()
        assert row is not None
        self.memory = AgentMemory.connect(
            self.dsn, embedder=_Embedder(self.data, row[0]), limits=self.limits
        )
        self.memory.open()
        self.chats: dict[str, ChatSession] = {}

    def close(self) -> None:
        self.memory.close()

    def load(self, memories: Sequence[Sequence[str]]) -> None:
        for user, run in itertools.groupby(memories, operator.itemgetter(0)):
            self.add_many(user, [text for _, text in run])

    def add(self, user: str, text: str) -> None:
        self.memory.remember(uuid.UUID(user), text)

    def add_many(self, user: str, texts: Sequence[str]) -> None:
        self.memory.memories.ingest(uuid.UUID(user), [{"content": text} for text in texts])

    def search(self, user: str, query: str, limit: int) -> list[str]:
        vector = self.data.embed(query)
        hits = self.memory.search(uuid.UUID(user), embedding=vector, limit=limit)
        return [hit.content for hit in hits]

    def search_words(self, user: str, query: str, limit: int) -> list[str]:
        return [hit.content for hit in self.memory.search(uuid.UUID(user), query, limit=limit)]

    def begin(self, user: str, session: str) -> None:
        self._chat(user, session)

    def append(self, user: str, session: str, question: str, answer: str) -> None:
        self._chat(user, session).append(user=question, reply=answer)

    def read(self, user: str, session: str) -> list[str]:
        messages = self.memory.sessions.messages(uuid.UUID(user), uuid.UUID(session), limit=LAST)
        return [str(message.content) for message in reversed(messages)]

    def context(self, user: str, session: str, query: str) -> Any:
        return self._chat(user, session).context(query)

    def _chat(self, user: str, session: str) -> ChatSession:
        if session not in self.chats:
            self.chats[session] = self.memory.session(
                user=uuid.UUID(user), model="gpt-4o-mini", session_id=uuid.UUID(session)
            )
            self.chats[session].open()
        return self.chats[session]
