"""pgrecall through its SQL functions alone, as from any language."""

from __future__ import annotations

import itertools
import operator
import uuid
from collections.abc import Sequence

import psycopg
from pgvector import HalfVector
from pgvector.psycopg import register_vector
from psycopg.types.json import Jsonb

import pgrecall.schema
from harness import LAST, Contender


class PgrecallSql(Contender):
    title = "pgrecall, SQL"
    packages = ("pgrecall", "psycopg", "pgvector")
    measures = frozenset({"memory", "conversation", "context"})
    loading = "ingest_memories, a run of ten a call"
    note = "near duplicates are looked for at every write; an append leaves its jobs behind"

    def create(self) -> None:
        with psycopg.connect(self.dsn, autocommit=True) as db:
            pgrecall.schema.install(db, embedding_dimensions=self.data.dimensions, share_roles=True)

    def open(self) -> None:
        self.db = psycopg.connect(self.dsn, autocommit=True)
        register_vector(self.db)

    def close(self) -> None:
        self.db.close()

    def load(self, memories: Sequence[Sequence[str]]) -> None:
        for user, run in itertools.groupby(memories, operator.itemgetter(0)):
            self.add_many(user, [text for _, text in run])

    def add(self, user: str, text: str) -> None:
        self.db.execute(
            "select outcome from recall.remember(p_user_id => %s, p_content => %s,"
            " p_embedding => %s)",
            [user, text, HalfVector(self.data.embed(text))],
            prepare=True,
        ).fetchone()

    def add_many(self, user: str, texts: Sequence[str]) -> None:
        self.db.execute(
            "select count(*) from recall.ingest_memories(p_user_id => %s, p_session_id => null,"
            " p_candidates => %b, p_embeddings => %b)",
            [
                user,
                Jsonb([{"content": text} for text in texts]),
                [HalfVector(self.data.embed(text)) for text in texts],
            ],
        ).fetchone()

    def search(self, user: str, query: str, limit: int) -> list[str]:
        return self._found(
            "select content from recall.search(p_user_id => %s, p_query_embedding => %s,"
            " p_limit => %s)",
            [user, HalfVector(self.data.embed(query)), limit],
        )

    def search_words(self, user: str, query: str, limit: int) -> list[str]:
        return self._found(
            "select content from recall.search(p_user_id => %s, p_query => %s,"
            " p_query_embedding => %s, p_limit => %s)",
            [user, query, HalfVector(self.data.embed(query)), limit],
        )

    def begin(self, user: str, session: str) -> None:
        self.db.execute(
            "select recall.open_session(p_user_id => %s, p_model_id => 'gpt-4o-mini',"
            " p_session_id => %s)",
            [user, session],
        )

    def append(self, user: str, session: str, question: str, answer: str) -> None:
        self.db.execute(
            "select turn_index from recall.append_messages(p_user_id => %s, p_session_id => %s,"
            " p_messages => %s, p_request_id => %s)",
            [
                user,
                session,
                Jsonb(
                    [
                        {"role": "user", "content": question},
                        {"role": "assistant", "content": answer},
                    ]
                ),
                uuid.uuid4(),
            ],
            prepare=True,
        ).fetchall()

    def read(self, user: str, session: str) -> list[str]:
        return self._found(
            "select content from recall.get_messages(p_user_id => %s, p_session_id => %s,"
            " p_limit => %s)",
            [user, session, LAST],
        )[::-1]

    def context(self, user: str, session: str, query: str) -> object:
        (compiled,) = self.db.execute(
            "select recall.compile_context(p_user_id => %s, p_session_id => %s, p_query => %s,"
            " p_query_embedding => %s)",
            [user, session, query, HalfVector(self.data.embed(query))],
            prepare=True,
            binary=True,
        ).fetchone() or (None,)
        return compiled["messages"]

    def _found(self, query: str, values: Sequence[object]) -> list[str]:
        rows = self.db.execute(query, values, prepare=True, binary=True).fetchall()
        return [content for (content,) in rows]
