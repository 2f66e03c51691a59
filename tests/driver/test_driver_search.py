"""The driver's additions to a search: dates in the query, and a reranker."""

from __future__ import annotations

import asyncio
import logging
import time
import uuid
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime

import psycopg
import pytest

from pgrecall import AgentMemory, AsyncAgentMemory, InvalidInputError, Limits

ASKED = datetime(2026, 3, 11, 12, 0, tzinfo=UTC)
MONTHS = ("January", "February", "March")


@pytest.fixture
def memory(configured: str) -> Iterator[AgentMemory]:
    with AgentMemory.connect(configured, embedder=False) as memory:
        yield memory


@pytest.fixture
def known(memory: AgentMemory, user: uuid.UUID) -> uuid.UUID:
    for month, name in enumerate(MONTHS, start=1):
        memory.remember(
            user,
            f"Ada went to the {name[:3].lower()} concert.",
            observed_at=datetime(2026, month, 5, tzinfo=UTC),
        )
    return user


def first(rows: Sequence[object]) -> str:
    return str(rows[0].content)  # type: ignore[attr-defined]


def test_a_date_in_the_query_favors_that_time(memory: AgentMemory, known: uuid.UUID) -> None:
    for query, month in (
        ("concert last month", "feb"), ("concert in January", "jan"), ("concert last week", "mar"),
        ("concert two months ago", "jan"), ("concert since March", "mar"),
    ):  # fmt: skip
        rows = memory.search(known, query, asked_at=ASKED)
        assert f"the {month} concert" in first(rows)
        assert len(rows) == 3, "nothing is lost"
        assert f"the {month} concert" in first(memory.search(known, query, asked_at=ASKED, limit=1))
    plain = [row.memory_id for row in memory.search(known, "concert", asked_at=ASKED)]
    asked = memory.search(known, "concert last month", asked_at=ASKED, dates=False)
    assert [row.memory_id for row in asked] == plain
    filtered = {"observed_after": "2026-02-01T00:00:00Z"}
    rows = memory.search(known, "concert in January", asked_at=ASKED, filter=filtered)
    assert [row.content for row in rows if "jan" in row.content] == []
    assert memory.search(uuid.uuid4(), "concert last month", asked_at=ASKED) == []


def test_date_in_the_query_favors_messages_of_that_time(
    memory: AgentMemory, db: psycopg.Connection, user: uuid.UUID
) -> None:
    from support import append, index_messages, open_session

    for month in (1, 2, 3):
        append(
            db, user, open_session(db, user),
            [{"role": "user", "content": f"The concert, part {month}.",
              "created_at": f"2026-0{month}-05T10:00:00Z"}],
        )  # fmt: skip
    index_messages(db)
    for query, part in (("concert last month", 2), ("concert in January", 1)):
        rows = memory.sessions.search_messages(user, query, asked_at=ASKED)
        assert f"part {part}" in first(rows)
        assert len(rows) == 3
        (row,) = memory.sessions.search_messages(
            user, query, asked_at=ASKED, filter={"since": "2026-03-01T00:00:00Z"}
        )
        assert "part 3" in str(row.content)


def by_month(query: str, texts: Sequence[str]) -> list[float]:
    assert query == "concert"
    return [("jan", "mar", "feb").index(text.split("the ")[1][:3]) for text in texts]


def test_reranker_orders_the_hits(configured: str, known: uuid.UUID) -> None:
    with AgentMemory.connect(configured, embedder=False, reranker=by_month) as memory:
        found = [row.content.split("the ")[1][:3] for row in memory.search(known, "concert")]
        assert found == ["feb", "mar", "jan"]
        assert len(memory.search(known, "concert", limit=2)) == 2
        assert "feb" in first(memory.search(known, "concert", limit=1)), "it sees more than that"
        assert memory.search(known, "concert", limit=0) == []
        with pytest.raises(InvalidInputError):
            memory.search(known, "concert", limit=-1)
        plain = memory.search(known, "concert", reranker=None)
        assert len(memory.search(known)) == 3, "without a query there is nothing to rank by"
    with AgentMemory.connect(configured, embedder=False) as memory:
        assert [row.memory_id for row in memory.search(known, "concert")] == [
            row.memory_id for row in plain
        ]
        assert "feb" in first(memory.search(known, "concert", reranker=by_month))


def test_reranker_sees_at_most_thirty_texts(memory: AgentMemory, user: uuid.UUID) -> None:
    memory.memories.ingest(user, [{"content": f"Concert number {n}."} for n in range(50)])
    seen: list[int] = []

    def count(query: str, texts: Sequence[str]) -> list[float]:
        seen.append(len(texts))
        return [0.0] * len(texts)

    rows = memory.search(user, "concert", limit=45, reranker=count)
    plain = memory.search(user, "concert", limit=45)
    assert [row.memory_id for row in rows] == [row.memory_id for row in plain], "equals stay"
    assert seen == [30]


@pytest.mark.parametrize("wrong", ["late", "raises", "short", "nan", "text"])
def test_failed_reranker_keeps_the_order(
    configured: str, known: uuid.UUID, caplog: pytest.LogCaptureFixture, wrong: str
) -> None:
    def reranker(query: str, texts: Sequence[str]) -> list[float]:
        match wrong:
            case "late":
                time.sleep(0.5)
            case "raises":
                raise RuntimeError("no model")
            case "short":
                return [1.0]
            case "nan":
                return [float("nan")] * len(texts)
            case "text":
                return ["high"] * len(texts)  # type: ignore[list-item]
        return [float(place) for place in range(len(texts))]

    with (
        caplog.at_level(logging.WARNING, "pgrecall"),
        AgentMemory.connect(
            configured, embedder=False, reranker=reranker, limits=Limits(rerank_timeout=0.1)
        ) as memory,
    ):
        plain = [row.memory_id for row in memory.search(known, "concert", reranker=None)]
        for _ in range(2):
            assert [row.memory_id for row in memory.search(known, "concert")] == plain
    assert len([r for r in caplog.records if "reranker" in r.getMessage()]) == 1


def test_a_coroutine_may_rerank(configured: str, known: uuid.UUID) -> None:
    async def reranker(query: str, texts: Sequence[str]) -> list[float]:
        await asyncio.sleep(0)
        return by_month(query, texts)

    async def late(query: str, texts: Sequence[str]) -> list[float]:
        await asyncio.sleep(5)
        return [0.0]

    async def search() -> None:
        limits = Limits(rerank_timeout=0.2)
        async with AsyncAgentMemory.connect(
            configured, embedder=False, reranker=reranker, limits=limits
        ) as memory:
            assert "feb" in first(await memory.search(known, "concert"))
            plain = await memory.search(known, "concert", reranker=None)
            found = await memory.search(known, "concert", reranker=late)
            assert [row.memory_id for row in found] == [row.memory_id for row in plain]
            assert "feb" in first(await memory.search(known, "concert", reranker=by_month))
            assert "feb" in first(
                await memory.search(known, "concert last month", asked_at=ASKED, reranker=None)
            )

    asyncio.run(search())
