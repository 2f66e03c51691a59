"""mem0 with its store for pgvector and `infer=False`, so that it calls no model."""

from __future__ import annotations

import hashlib
import os
import tempfile
import uuid
from collections.abc import Sequence
from datetime import UTC, datetime

os.environ["MEM0_TELEMETRY"] = "False"
os.environ["MEM0_DIR"] = tempfile.mkdtemp(prefix="peers-mem0-")
os.environ.setdefault("OPENAI_API_KEY", "none is asked")

from mem0 import Memory
from mem0.utils.lemmatization import lemmatize_for_bm25
from psycopg.types.json import Jsonb

from harness import Contender, Data, PackedVector, copy, loading


class _Embedder:
    def __init__(self, data: Data) -> None:
        self._data = data

    def embed(self, text: str, memory_action: str | None = None) -> list[float]:
        return self._data.embed(text)


class Mem0Memory(Contender):
    title = "mem0, infer=False"
    packages = ("mem0ai", "psycopg")
    measures = frozenset({"memory"})
    loading = "COPY into its table, HNSW built afterwards"
    note = "also ranks by words, and drops what is below its threshold of 0.1"

    def create(self) -> None:
        self.open()
        self.memory.vector_store.create_col()
        self.close()

    def open(self) -> None:
        self.memory = Memory.from_config(
            {
                "vector_store": {
                    "provider": "pgvector",
                    "config": {
                        "connection_string": self.dsn,
                        "collection_name": "memories",
                        "embedding_model_dims": self.data.dimensions,
                        "hnsw": True,
                    },
                },
                "history_db_path": f"{os.environ['MEM0_DIR']}/history-{os.getpid()}.db",
            }
        )
        self.memory.embedding_model = _Embedder(self.data)

    def close(self) -> None:
        self.memory.vector_store.connection_pool.close()

    def load(self, memories: Sequence[Sequence[str]]) -> None:
        now = datetime.now(UTC).isoformat()
        with loading(self.dsn) as db:
            copy(
                db,
                "memories (id, vector, payload)",
                ["uuid", "vector", "jsonb"],
                (
                    [
                        uuid.uuid4(),
                        PackedVector(self.data.packed(text)),
                        Jsonb(
                            {
                                "data": text,
                                "hash": hashlib.md5(text.encode()).hexdigest(),
                                "role": "user",
                                "user_id": user,
                                "created_at": now,
                                "updated_at": now,
                                "text_lemmatized": lemmatize_for_bm25(text),
                            }
                        ),
                    ]
                    for user, text in memories
                ),
            )

    def add(self, user: str, text: str) -> None:
        self.memory.add([{"role": "user", "content": text}], user_id=user, infer=False)

    def add_many(self, user: str, texts: Sequence[str]) -> None:
        messages = [{"role": "user", "content": text} for text in texts]
        self.memory.add(messages, user_id=user, infer=False)

    def search(self, user: str, query: str, limit: int) -> list[str]:
        found = self.memory.search(query, top_k=limit, filters={"user_id": user})
        return [hit["memory"] for hit in found["results"]]

    def search_words(self, user: str, query: str, limit: int) -> list[str]:
        return self.search(user, query, limit)
