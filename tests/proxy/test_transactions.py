"""A call commits on its shard at once, so the driver refuses a caller's open transaction."""

from __future__ import annotations

import uuid

import psycopg
import pytest
from psycopg_pool import ConnectionPool

from pgrecall import AgentMemory, ConfigurationError
from support.proxies import Fleet

REFUSED = "a call through a proxy cannot be part of a transaction"


def test_driver_refuses_an_open_transaction(fleet: Fleet) -> None:
    user = uuid.uuid4()
    with fleet.proxy() as conn, AgentMemory.connect(conn, embedder=False) as memory:
        with conn.transaction(), pytest.raises(ConfigurationError, match=REFUSED):
            memory.remember(user, "likes tea")
        memory.remember(user, "likes milk")
        assert [found.content for found in memory.memories.list(user)] == ["likes milk"]


def test_driver_refuses_to_begin_a_transaction_of_the_caller(fleet: Fleet) -> None:
    """Without autocommit the first call begins a transaction, which the caller may roll back."""
    user = uuid.uuid4()
    with psycopg.connect(fleet.dsn) as conn, AgentMemory.connect(conn, embedder=False) as memory:
        with pytest.raises(ConfigurationError, match=REFUSED):
            memory.remember(user, "likes tea")
        conn.rollback()
        conn.autocommit = True
        assert memory.memories.list(user) == []


def test_driver_works_over_pools(fleet: Fleet) -> None:
    user = uuid.uuid4()
    for autocommit in (True, False):
        with (
            ConnectionPool(fleet.dsn, open=True, kwargs={"autocommit": autocommit}) as pool,
            AgentMemory.connect(pool, embedder=False) as memory,
        ):
            memory.remember(user, f"likes number {autocommit:d}")
    with AgentMemory.connect(fleet.dsn, embedder=False) as memory:
        found = {one.content for one in memory.memories.list(user)}
    assert found == {"likes number 0", "likes number 1"}
