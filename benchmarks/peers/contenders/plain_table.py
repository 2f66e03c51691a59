"""The usual first design: one table, an index on the user, an HNSW index on the vector."""

from __future__ import annotations

import uuid
from collections.abc import Sequence

import psycopg
from pgvector import Vector
from pgvector.psycopg import register_vector

from harness import Contender, PackedVector, copy, loading


class PlainTable(Contender):
    title = "plain table: btree, HNSW"
    packages = ("psycopg", "pgvector")
    measures = frozenset({"memory"})
    loading = "COPY, HNSW built afterwards"
    note = "vector(n) in TOAST; the planner chooses between the two indexes"

    def create(self) -> None:
        with psycopg.connect(self.dsn, autocommit=True) as db:
            db.execute("create extension if not exists vector")
            db.execute(
                "create table memory (id uuid primary key, user_id uuid not null,"
                f" content text not null, embedding vector({self.data.dimensions}) not null,"
                " created_at timestamptz not null default now())"
            )
            db.execute("create index on memory (user_id)")
            db.execute("create index on memory using hnsw (embedding vector_cosine_ops)")

    def open(self) -> None:
        self.db = psycopg.connect(self.dsn, autocommit=True)
        register_vector(self.db)

    def close(self) -> None:
        self.db.close()

    def load(self, memories: Sequence[Sequence[str]]) -> None:
        with loading(self.dsn) as db:
            copy(
                db,
                "memory (id, user_id, content, embedding)",
                ["uuid", "uuid", "text", "vector"],
                (
                    [uuid.uuid4(), uuid.UUID(user), text, PackedVector(self.data.packed(text))]
                    for user, text in memories
                ),
            )

    def add(self, user: str, text: str) -> None:
        self.db.execute(
            "insert into memory (id, user_id, content, embedding) values (%s, %s, %s, %s)",
            [uuid.uuid4(), user, text, Vector(self.data.embed(text))],
        )

    def add_many(self, user: str, texts: Sequence[str]) -> None:
        with self.db.transaction(), self.db.cursor() as cursor:
            cursor.executemany(
                "insert into memory (id, user_id, content, embedding) values (%s, %s, %s, %s)",
                [(uuid.uuid4(), user, text, Vector(self.data.embed(text))) for text in texts],
            )

    def search(self, user: str, query: str, limit: int) -> list[str]:
        rows = self.db.execute(
            "select content from memory where user_id = %s order by embedding <=> %s limit %s",
            [user, Vector(self.data.embed(query)), limit],
        ).fetchall()
        return [content for (content,) in rows]
