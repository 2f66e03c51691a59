"""The driver behind PgBouncer in transaction mode."""

from __future__ import annotations

import os
import uuid
from collections.abc import Callable
from typing import Any

import psycopg
import pytest

from pgrecall import AgentMemory, Limits
from support import raise_errors, together
from support.poolers import pgbouncer

pytestmark = pytest.mark.slow

THREADS = 18
RUNS = 200 if os.environ.get("SOAK") else 13  # of each of the four pools: 52 in CI

POOLS = [
    pytest.param(
        {"default_pool_size": size, "max_prepared_statements": prepared},
        id=f"pool of {size}, {prepared} prepared statements",
    )
    for size in (1, 3)
    for prepared in (0, 200)
]


@pytest.mark.concurrent
@pytest.mark.parametrize("pool", POOLS)
def test_two_users_interleaved_behind_pgbouncer(dsn: str, pool: dict[str, int]) -> None:
    """No call hangs or fails, and none sees the other user's rows."""
    with pgbouncer(dsn, **pool) as pooled:
        for _ in range(RUNS):
            users = [uuid.uuid4(), uuid.uuid4()]
            limits = Limits(max_connections=THREADS)
            with AgentMemory.connect(pooled, embedder=False, limits=limits) as memory:
                raise_errors(together(_talk(memory, users, number) for number in range(THREADS)))


def _talk(memory: AgentMemory, users: list[uuid.UUID], number: int) -> Callable[[], None]:
    mine = number % 2

    def work() -> None:
        with memory.session(user=users[mine], model="gpt-4o-mini") as chat:
            for round_ in range(3):
                chat.append(user=f"{mine} {round_}")
                memory.remember(users[mine], f"User {mine} likes tea number {number} {round_}")
                found = memory.search(users[mine], "tea")
                assert {hit.content.split()[1] for hit in found} == {str(mine)}
                assert {(m.content or "")[0] for m in chat.messages()} == {str(mine)}

    return work


@pytest.mark.parametrize("prepared", [0, 200])
def test_pgbouncer_is_found_out(
    dsn: str, prepared: int, user: uuid.UUID, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither the pool nor a connection of the caller prepares or pipelines through it."""
    pipelines: list[psycopg.Connection] = []
    real = psycopg.Connection.pipeline

    def pipeline(conn: psycopg.Connection) -> Any:
        pipelines.append(conn)
        return real(conn)

    monkeypatch.setattr(psycopg.Connection, "pipeline", pipeline)
    with (
        pgbouncer(dsn, default_pool_size=1, max_prepared_statements=prepared) as pooled,
        AgentMemory.connect(pooled, embedder=False) as memory,
    ):
        for number in range(8):
            memory.remember(user, f"User likes tea number {number}")
        assert set(memory._core.write.transport._known.values()) == {True}
        with psycopg.connect(pooled, autocommit=True) as conn:
            joined = memory.joining(conn)
            for _ in range(8):
                assert len(joined.search(user, "tea", limit=8)) == 8
            query = "select count(*) from pg_prepared_statements"
            assert conn.execute(query, prepare=False).fetchone() == (0,)
    assert pipelines == []
    with AgentMemory.connect(dsn, embedder=False) as memory:
        memory.admin.version()
        assert set(memory._core.write.transport._known.values()) == {False}
    assert pipelines
