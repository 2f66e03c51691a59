"""Run LangGraph's suites of stores with ours in the place of theirs; a plugin of pytest.

`SUITE_ADMIN_DSN` is a URL of a server whose template1 has the schema installed, so that each
database that a suite creates has it.
"""

from __future__ import annotations

import os
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from importlib import import_module
from typing import Any
from uuid import uuid4

import psycopg
import pytest
from suite import use

from pgrecall import AgentMemory
from pgrecall.integrations.langgraph import AsyncPgRecallStore, PgRecallStore

ADMIN_DSN = os.environ["SUITE_ADMIN_DSN"]
# by which the suites move lifetimes: columns of their table, under its name
VIEW = """
create or replace view public.store as
select array_to_string(i.namespace, '.') as prefix, i.key, i.expires_at, i.updated_at
  from recall.items as i
"""


class OurInMemoryStore(PgRecallStore):
    """Takes what InMemoryStore takes; each store has a user of its own."""

    memory_of_all: AgentMemory

    def __init__(self, *, index: Any = None) -> None:
        use()
        super().__init__(self.memory_of_all, user=f"suite-{uuid4()}", index=index)


class OurPostgresStore(PgRecallStore):
    """Takes what PostgresStore takes."""

    MIGRATIONS = ()  # the suite rewrites theirs
    dsn = ""

    @classmethod
    @contextmanager
    def from_conn_string(cls, conn_string: str, **options: Any) -> Iterator[Any]:
        """Yield a store of one user."""
        with super().from_conn_string(conn_string, **_ours(options)) as store:
            use()
            store.dsn = conn_string
            yield store

    def start_ttl_sweeper(self) -> None:
        """Do nothing: maintenance deletes expired items."""

    stop_ttl_sweeper = start_ttl_sweeper

    @contextmanager
    def _cursor(self) -> Iterator[Any]:
        with psycopg.connect(self.dsn, row_factory=psycopg.rows.dict_row) as conn:
            conn.execute(VIEW)
            yield conn.cursor()


class OurAsyncPostgresStore(AsyncPgRecallStore):
    """Takes what AsyncPostgresStore takes."""

    MIGRATIONS = ()
    dsn = ""

    @classmethod
    @asynccontextmanager
    async def from_conn_string(cls, conn_string: str, **options: Any) -> AsyncIterator[Any]:
        """Yield a store of one user."""
        async with super().from_conn_string(conn_string, **_ours(options)) as store:
            use()
            store.dsn = conn_string
            yield store

    async def start_ttl_sweeper(self) -> None:
        """Do nothing: maintenance deletes expired items."""

    stop_ttl_sweeper = start_ttl_sweeper

    @asynccontextmanager
    async def _cursor(self) -> AsyncIterator[Any]:
        row_factory = psycopg.rows.dict_row
        async with await psycopg.AsyncConnection.connect(self.dsn, row_factory=row_factory) as conn:
            await conn.execute(VIEW)
            yield conn.cursor()


def _ours(options: dict[str, Any]) -> dict[str, Any]:
    """Return options of theirs without those of connections, and a user."""
    options.pop("pipeline", None)
    options.pop("pool_config", None)
    return {**options, "user": "suite"}


def pytest_configure(config: pytest.Config) -> None:
    """Put our stores where the suites import theirs from."""
    memory = AgentMemory.connect(ADMIN_DSN, embedder=False)
    OurInMemoryStore.memory_of_all = memory
    config.add_cleanup(memory.close)
    for module, ours in (
        ("langgraph.store.memory", {"InMemoryStore": OurInMemoryStore}),
        ("langgraph.store.postgres",
         {"PostgresStore": OurPostgresStore, "AsyncPostgresStore": OurAsyncPostgresStore}),
    ):  # fmt: skip
        for name, ours_class in ours.items():
            setattr(import_module(module), name, ours_class)


def pytest_collection() -> None:
    """Name our server where the suite's conftest names one."""
    conftest: Any = sys.modules.get("tests.conftest")
    if hasattr(conftest, "DEFAULT_URI"):
        conftest.DEFAULT_URI = ADMIN_DSN
        conftest.DEFAULT_POSTGRES_URI = f"{ADMIN_DSN.rpartition('/')[0]}/"
