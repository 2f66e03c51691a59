"""Plain SQL as a floor: one narrow table, vectors inline, scanned exactly.

It has no deduplication, no order of turns under concurrency, no counters and no index on vectors.
All other contenders are compared with it.
"""

from __future__ import annotations

import uuid
from collections.abc import Sequence

import psycopg
from pgvector import HalfVector
from pgvector.psycopg import register_vector

from harness import FEW, LAST, Contender, loading


class Floor(Contender):
    title = "floor: bare statements"
    packages = ("psycopg", "pgvector")
    measures = frozenset({"memory", "conversation", "context"})
    loading = "COPY"
    note = "user, text and halfvec in one row without TOAST, exact scan; one insert a turn"

    def create(self) -> None:
        with psycopg.connect(self.dsn, autocommit=True) as db:
            db.execute("create extension if not exists vector")
            db.execute(
                "create table memory (user_id uuid not null, memory_id uuid not null,"
                f" content text not null, embedding halfvec({self.data.dimensions}) not null,"
                " primary key (user_id, memory_id))"
            )
            db.execute("alter table memory alter column embedding set storage plain")
            db.execute(
                "create table message (user_id uuid not null, session_id uuid not null,"
                " turn_index integer not null, created_at timestamptz not null,"
                " message_id uuid not null, role text not null, content text,"
                " metadata jsonb not null default '{}',"
                " primary key (user_id, session_id, turn_index))"
            )

    def open(self) -> None:
        self.db = psycopg.connect(self.dsn, autocommit=True)
        register_vector(self.db)
        self.turns: dict[str, int] = {}

    def close(self) -> None:
        self.db.close()

    def load(self, memories: Sequence[Sequence[str]]) -> None:
        with loading(self.dsn) as db:
            register_vector(db)
            with db.cursor().copy(
                "copy memory (user_id, memory_id, content, embedding)"
                " from stdin with (format binary)"
            ) as stream:
                stream.set_types(["uuid", "uuid", "text", "halfvec"])
                for user, text in memories:
                    vector = HalfVector(self.data.embed(text))
                    stream.write_row([uuid.UUID(user), uuid.uuid4(), text, vector])

    def add(self, user: str, text: str) -> None:
        self.db.execute(
            "insert into memory values (%s, %s, %s, %s)",
            [user, uuid.uuid4(), text, HalfVector(self.data.embed(text))],
            prepare=True,
        )

    def add_many(self, user: str, texts: Sequence[str]) -> None:
        with self.db.transaction(), self.db.cursor() as cursor:
            cursor.executemany(
                "insert into memory values (%s, %s, %s, %s)",
                [(user, uuid.uuid4(), text, HalfVector(self.data.embed(text))) for text in texts],
            )

    def search(self, user: str, query: str, limit: int) -> list[str]:
        rows = self.db.execute(
            "select content from memory where user_id = %s order by embedding <=> %s limit %s",
            [user, HalfVector(self.data.embed(query)), limit],
            prepare=True,
            binary=True,
        ).fetchall()
        return [content for (content,) in rows]

    def append(self, user: str, session: str, question: str, answer: str) -> None:
        turn = self.turns[session] = self.turns.get(session, 0) + 2
        self.db.execute(
            "insert into message values (%s, %s, %s, now(), %s, 'user', %s),"
            " (%s, %s, %s, now(), %s, 'assistant', %s)",
            [
                *(user, session, turn - 1, uuid.uuid4(), question),
                *(user, session, turn, uuid.uuid4(), answer),
            ],
            prepare=True,
        )

    def read(self, user: str, session: str) -> list[str]:
        rows = self.db.execute(
            "select content from message where user_id = %s and session_id = %s"
            " order by turn_index desc limit %s",
            [user, session, LAST],
            prepare=True,
            binary=True,
        ).fetchall()
        return [content for (content,) in reversed(rows)]

    def context(self, user: str, session: str, query: str) -> list[str]:
        return self.search(user, query, FEW) + self.read(user, session)
