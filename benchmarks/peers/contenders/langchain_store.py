"""LangChain's PGVectorStore with an HNSW index and the user in a column for filters."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Sequence

from langchain_core.embeddings import Embeddings
from langchain_postgres import Column, PGEngine, PGVectorStore
from langchain_postgres.v2.indexes import HNSWIndex

from harness import Contender, Data, PackedVector, copy, loading, sqlalchemy_url


class _Embeddings(Embeddings):
    def __init__(self, data: Data) -> None:
        self._data = data

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        return [self._data.embed(text) for text in texts]

    def embed_query(self, text: str) -> list[float]:
        return self._data.embed(text)

    async def aembed_documents(self, texts: list[str]) -> list[list[float]]:
        return self.embed_documents(texts)

    async def aembed_query(self, text: str) -> list[float]:
        return self.embed_query(text)


class LangChainStore(Contender):
    title = "LangChain PGVectorStore"
    packages = ("langchain-postgres", "langchain-core", "SQLAlchemy", "asyncpg")
    measures = frozenset({"memory"})
    loading = "COPY into its table, HNSW built afterwards"
    note = "its documentation makes no index on the column that it filters by"

    def create(self) -> None:
        engine = PGEngine.from_connection_string(sqlalchemy_url(self.dsn))
        engine.init_vectorstore_table(
            "memories",
            self.data.dimensions,
            metadata_columns=[Column("user_id", "TEXT", nullable=False)],
        )
        self._open(engine)
        self.store.apply_vector_index(HNSWIndex())
        self.close()

    def open(self) -> None:
        self._open(PGEngine.from_connection_string(sqlalchemy_url(self.dsn)))

    def _open(self, engine: PGEngine) -> None:
        self.engine = engine
        self.store = PGVectorStore.create_sync(
            engine,
            _Embeddings(self.data),
            "memories",
            metadata_columns=["user_id"],
        )

    def close(self) -> None:
        asyncio.run(self.engine.close())

    def load(self, memories: Sequence[Sequence[str]]) -> None:
        with loading(self.dsn) as db:
            copy(
                db,
                "memories (langchain_id, content, embedding, user_id)",
                ["uuid", "text", "vector", "text"],
                (
                    [uuid.uuid4(), text, PackedVector(self.data.packed(text)), user]
                    for user, text in memories
                ),
            )

    def add(self, user: str, text: str) -> None:
        self.store.add_texts([text], metadatas=[{"user_id": user}])

    def add_many(self, user: str, texts: Sequence[str]) -> None:
        self.store.add_texts(list(texts), metadatas=[{"user_id": user} for _ in texts])

    def search(self, user: str, query: str, limit: int) -> list[str]:
        found = self.store.similarity_search(query, k=limit, filter={"user_id": user})
        return [document.page_content for document in found]
