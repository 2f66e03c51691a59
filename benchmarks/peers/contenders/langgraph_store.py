"""LangGraph's PostgresStore with its vector index, a namespace for each user."""

from __future__ import annotations

import contextlib
import uuid
from collections.abc import Sequence

from langgraph.store.base import PutOp
from langgraph.store.postgres import PostgresStore
from psycopg.types.json import Jsonb

from harness import Contender, PackedVector, copy, loading


class LangGraphStore(Contender):
    title = "LangGraph PostgresStore"
    packages = ("langgraph", "langgraph-checkpoint-postgres", "psycopg")
    measures = frozenset({"memory"})
    loading = "COPY into its tables, HNSW built afterwards"
    note = ""

    def create(self) -> None:
        self.open()
        self.store.setup()
        self.close()

    def open(self) -> None:
        self.stack = contextlib.ExitStack()
        self.store = self.stack.enter_context(
            PostgresStore.from_conn_string(
                self.dsn,
                index={
                    "dims": self.data.dimensions,
                    "embed": lambda texts: [self.data.embed(text) for text in texts],
                    "fields": ["text"],
                },
            )
        )

    def close(self) -> None:
        self.stack.close()

    def load(self, memories: Sequence[Sequence[str]]) -> None:
        keys = [str(uuid.uuid4()) for _ in memories]
        with loading(self.dsn) as db:
            copy(
                db,
                "store (prefix, key, value)",
                ["text", "text", "jsonb"],
                (
                    [f"{user}.memories", key, Jsonb({"text": text})]
                    for key, (user, text) in zip(keys, memories, strict=True)
                ),
            )
            copy(
                db,
                "store_vectors (prefix, key, field_name, embedding)",
                ["text", "text", "text", "vector"],
                (
                    [f"{user}.memories", key, "text", PackedVector(self.data.packed(text))]
                    for key, (user, text) in zip(keys, memories, strict=True)
                ),
            )

    def add(self, user: str, text: str) -> None:
        self.store.put((user, "memories"), str(uuid.uuid4()), {"text": text})

    def add_many(self, user: str, texts: Sequence[str]) -> None:
        self.store.batch(
            [PutOp((user, "memories"), str(uuid.uuid4()), {"text": text}) for text in texts]
        )

    def search(self, user: str, query: str, limit: int) -> list[str]:
        found = self.store.search((user, "memories"), query=query, limit=limit)
        return [item.value["text"] for item in found]
