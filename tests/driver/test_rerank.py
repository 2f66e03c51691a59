"""A reranker in contexts: memories in its order, or the database's where it gives none."""

from __future__ import annotations

import asyncio
import json
import time
import uuid
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import Any

import psycopg
import pytest

from pgrecall import AgentMemory, AsyncAgentMemory, ChatSession, InvalidInputError, Limits
from support.fakes import WordEmbedder
from support.sealed import KEYS

QUERY = "Which concert did Ada like best?"
ANSWER = "Ada still hums the tune that Otto played at the concert in Oslo."


@pytest.fixture
def memory(configured: str) -> Iterator[AgentMemory]:
    with AgentMemory.connect(configured, embedder=WordEmbedder(), reranker=tune_first) as memory:
        yield memory


def tune_first(query: str, texts: Sequence[str]) -> list[float]:
    """Stand in for a model that knows what answers the question."""
    assert query == QUERY
    assert len(texts) <= 30
    return [float("hums" in text) for text in texts]


def know(memory: AgentMemory, user: uuid.UUID) -> None:
    """Remember twenty things that share more words with the question than its answer does."""
    for number in range(20):
        memory.remember(user, f"Ada did like the concert which she heard best, number {number}.")
    memory.remember(user, ANSWER)


def shown(chat: ChatSession, **options: Any) -> str:
    return json.dumps(chat.context(QUERY, **options))


def test_context_holds_answer_only_thanks_to_reranker(memory: AgentMemory, user: uuid.UUID) -> None:
    know(memory, user)
    chat = memory.session(user=user, model="gpt-4o-mini")
    for options in ({"max_memories": 3}, {"memory_budget": 120}):
        assert ANSWER not in shown(chat, reranker=None, **options)
        assert ANSWER in shown(chat, **options)
    best = chat.explain(QUERY, max_memories=3)[0]
    assert (best.content, best.taken) == (ANSWER, True)


def test_memories_stand_in_its_order_with_their_relevance(
    memory: AgentMemory, user: uuid.UUID, db: psycopg.Connection[Any]
) -> None:
    for place in ("first", "second", "third"):
        memory.remember(user, f"The {place} concert.", importance=0.3)
    order = ("second", "third", "first")

    def by_place(query: str, texts: Sequence[str]) -> list[float]:
        return [-float(order.index(text.split()[1])) for text in texts]

    chat = memory.session(user=user, model="gpt-4o-mini")
    found = {hit.memory_id: hit for hit in memory.search(user, "concert", reranker=None)}
    text = json.dumps(chat.context("concert", reranker=by_place))
    assert sorted(order, key=text.index) == list(order)
    assert chat.last_context is not None
    used = chat.last_context.memories
    assert [found[one.memory_id].content.split()[1] for one in used] == list(order)
    relevance = [found[one.memory_id].relevance for one in used]
    assert [one.relevance for one in used] == pytest.approx(relevance, rel=1e-3)
    assert all(one["relevance"] < 0.5 < relevance[0] for one in chat.last_context.raw["memories"])
    tight = {"memory_budget": 60, "efficiency": True}
    assert chat.compile("concert", reranker=None, **tight).efficiency is not None
    assert chat.compile("concert", reranker=by_place, **tight).efficiency is None
    memory.close()  # what was used is recorded in the background
    rows = db.execute(
        "select memory_id, relevance from recall.memory_access_log where user_id = %s", [user]
    ).fetchall()
    assert dict(rows) == pytest.approx({one.memory_id: one.relevance for one in used})


def test_lines_beyond_what_it_sees_stay_in_the_context(
    memory: AgentMemory, user: uuid.UUID
) -> None:
    memory.memories.ingest(user, [{"content": f"Concert number {n}."} for n in range(50)])
    seen: list[int] = []

    def count(query: str, texts: Sequence[str]) -> list[float]:
        seen.append(len(texts))
        return [float(n) for n in range(len(texts))]

    chat = memory.session(user=user, model="gpt-4o-mini")
    compiled = chat.compile("concert", reranker=count)
    assert seen == [30]
    assert len(compiled.memories) == 50
    assert {one.memory_id for one in compiled.memories} == {
        one.memory_id for one in chat.compile("concert", reranker=None).memories
    }


@pytest.mark.parametrize("wrong", ["late", "raises", "short"])
def test_context_without_its_order_is_the_database_s(
    configured: str, user: uuid.UUID, wrong: str
) -> None:
    def reranker(query: str, texts: Sequence[str]) -> list[float]:
        if wrong == "late":
            time.sleep(0.5)
        if wrong == "raises":
            raise RuntimeError("no model")
        return [1.0] if wrong == "short" else tune_first(query, texts)

    limits = Limits(rerank_timeout=0.1)
    with AgentMemory.connect(
        configured, embedder=WordEmbedder(), reranker=reranker, limits=limits
    ) as memory:
        know(memory, user)
        chat = memory.session(user=user, model="gpt-4o-mini")
        assert chat.context(QUERY) == chat.context(QUERY, reranker=None)
        found = [
            [(one.memory_id, one.taken, one.reason) for one in chat.explain(QUERY, **options)]
            for options in ({}, {"reranker": None})
        ]
        assert found[0] == found[1]


@pytest.mark.parametrize(
    "options", [{"selection": "top"}, {"selection": "split"}, {"pack": "density"},
                {"memories_as_of": "session_start"}, {"memory_ids": []}]
)  # fmt: skip
def test_another_order_than_the_query_s_leaves_it_out(
    memory: AgentMemory, user: uuid.UUID, options: dict[str, Any]
) -> None:
    def never(query: str, texts: Sequence[str]) -> list[float]:
        raise AssertionError("the reranker was asked")

    know(memory, user)
    chat = memory.session(user=user, model="gpt-4o-mini")
    same = chat.compile(QUERY, reranker=never, **options)
    assert same.messages == chat.compile(QUERY, reranker=None, **options).messages
    assert chat.compile(None, reranker=never).memories
    assert not memory._retrieval._has_rerank_failed


def test_memories_of_continued_sessions_are_among_those_it_sees(
    memory: AgentMemory, user: uuid.UUID
) -> None:
    def last_first(query: str, texts: Sequence[str]) -> list[float]:
        return [float(n) for n in range(len(texts))]

    before = memory.session(user=user, model="gpt-4o-mini")
    before.open()
    memory.remember(user, "The concert is at eight.", session_id=before.session_id,
                    current_message="Hello.")  # fmt: skip
    memory.remember(user, "Ada has a concert.")
    chat = memory.session(user=user, model="gpt-4o-mini", parent_session_id=before.session_id)
    chat.open()
    other = memory.session(user=user, model="gpt-4o-mini")
    for reranker in (None, last_first):
        assert "at eight" in json.dumps(chat.context("concert", reranker=reranker))
        assert "at eight" not in json.dumps(other.context("concert", reranker=reranker))
    found = memory.search(user, "concert", filter={"session_id": str(chat.session_id)},
                          reranker=None)  # fmt: skip
    assert len(found) == 2


def test_erased_memory_is_not_shown(memory: AgentMemory, user: uuid.UUID) -> None:
    """It was found, and is gone when the context is compiled."""
    know(memory, user)
    (known,) = (row for row in memory.memories.list(user) if row.content == ANSWER)

    def forgets(query: str, texts: Sequence[str]) -> list[float]:
        memory.privacy.forget_memory(user, known.memory_id)
        return tune_first(query, texts)

    chat = memory.session(user=user, model="gpt-4o-mini")
    text = shown(chat, reranker=forgets, max_memories=3)
    assert "hums" not in text
    assert text.count("heard best") == 3


def test_encrypted_user_has_its_order_and_dates(configured: str, user: uuid.UUID) -> None:
    with AgentMemory.connect(
        configured, embedder=False, wrapping_keys=KEYS, reranker=tune_first
    ) as memory:
        memory.encryption.seal_user(user)
        know(memory, user)
        for month in (1, 2, 3):
            memory.remember(user, f"Ada went abroad, trip {month}.",
                            observed_at=datetime(2026, month, 5, tzinfo=UTC))  # fmt: skip
        chat = memory.session(user=user, model="gpt-4o-mini")
        assert ANSWER not in shown(chat, reranker=None, max_memories=3)
        assert ANSWER in shown(chat, max_memories=3)
        asked = {"asked_at": "2026-03-11T00:00:00Z", "max_memories": 1, "reranker": None}
        for query, month in (("Ada went abroad in January", 1), ("Ada went abroad last month", 2)):
            assert f"trip {month}" in json.dumps(chat.context(query, **asked))


def test_coroutine_orders_a_context(configured: str, user: uuid.UUID) -> None:
    async def reranker(query: str, texts: Sequence[str]) -> list[float]:
        await asyncio.sleep(0)
        return tune_first(query, texts)

    with AgentMemory.connect(configured, embedder=WordEmbedder()) as memory:
        know(memory, user)

    async def context() -> str:
        async with AsyncAgentMemory.connect(
            configured, embedder=WordEmbedder(), reranker=reranker
        ) as memory:
            chat = memory.session(user=user, model="gpt-4o-mini")
            return json.dumps(await chat.context(QUERY, max_memories=3))

    assert ANSWER in asyncio.run(context())


def test_limit_left_out_is_that_of_the_database(memory: AgentMemory, user: uuid.UUID) -> None:
    know(memory, user)
    plain = memory.search(user, QUERY, reranker=None)
    assert len(memory.search(user, QUERY)) == len(plain) == 10
    assert memory.search(user, QUERY, limit=0) == []
    with pytest.raises(InvalidInputError):
        memory.search(user, QUERY, limit=-1)
