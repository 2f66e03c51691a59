"""Items by the driver, also of encrypted users."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Callable, Iterator
from typing import Any

import psycopg
import pytest
from psycopg.types.json import Jsonb

from pgrecall import AgentMemory, AsyncAgentMemory, ConfigurationError, NotAllowedError, QuotaError
from support import call, rows
from support.sealed import connected

Connection = psycopg.Connection[Any]


@pytest.fixture
def memory(dsn: str) -> Iterator[AgentMemory]:
    with connected(dsn) as made:
        yield made


def item(key: str, value: Any, **more: Any) -> dict[str, Any]:
    return {"namespace": ["docs"], "key": key, "value": value} | more


def test_items_are_put_found_and_listed(memory: AgentMemory) -> None:
    items, user = memory.items, f"user {uuid.uuid4()}"
    vector = [{"path": "x", "embedding": [1.0, 0.5]}]
    assert items.put(user, [item("a", {"n": 1}, vectors=vector), item("b", {"n": 2})]) == 2
    (found,) = items.get(user, ["docs"], ["a", "none"])
    assert (found.key, found.value, found.namespace, found.score) == ("a", {"n": 1}, ["docs"], None)
    (near,) = items.search(user, embedding=[1.0, 0.5], distance="cosine")
    assert (near.key, round(near.score or 0, 6)) == ("a", 1)
    assert [one.key for one in items.search(user, ["docs"], filter={"n": {"$gt": 1}})] == ["b"]
    assert items.namespaces(user, prefix=["*"]) == [("docs",)]
    assert items.touch(user, [(("docs",), "a")]) == 0
    items.put(user, [item("a", {"n": 1}, ttl=5)])
    assert items.touch(user, [(("docs",), "a"), (("other",), "a")]) == 1


async def listed(dsn: str, user: str) -> Any:
    async with AsyncAgentMemory.connect(dsn, embedder=False) as memory:
        await memory.items.put(user, [item("a", 1)])
        return [one.value for one in await memory.items.search(user)]


def test_items_asynchronously(dsn: str) -> None:
    assert asyncio.run(listed(dsn, f"user {uuid.uuid4()}")) == [1]


def test_quota_is_an_error_of_its_own(db: Connection, memory: AgentMemory) -> None:
    user = uuid.uuid4()
    call(db, "configure_user", p_user_id=user, p_changes=Jsonb({"items_per_user": 1}))
    with pytest.raises(QuotaError):
        memory.items.put(user, [item("a", 1), item("b", 1)])


def test_items_of_an_encrypted_user(db: Connection, memory: AgentMemory) -> None:
    user = uuid.uuid4()
    memory.encryption.seal_user(user)
    values = {"a": {"text": "secret", "n": 1}, "b": 7, "c": "text"}
    vectors = [{"path": "text", "embedding": [1.0]}]
    memory.items.put(user, [item(key, value, vectors=vectors) for key, value in values.items()])
    stored = rows(db, "select value from recall.items where user_id = %s", [user])
    assert all(row["value"].startswith("sealed:v1:") for row in stored)
    assert rows(db, "select from recall.item_vectors where user_id = %s", [user]) == []
    assert {one.key: one.value for one in memory.items.search(user)} == values
    assert {one.key: one.value for one in memory.items.get(user, ["docs"], [*values])} == values
    with pytest.raises(NotAllowedError):
        memory.items.search(user, filter={"n": 1})


@pytest.mark.parametrize(
    "value",
    [
        "'\"text\"'::jsonb",
        "(select value from recall.items where user_id = %(user)s and key = 'b')",
    ],
)
def test_a_moved_or_readable_value_is_refused(
    db: Connection, memory: AgentMemory, connect: Callable[..., Connection], value: str
) -> None:
    user = uuid.uuid4()
    memory.encryption.seal_user(user)
    memory.items.put(user, [item("a", "first"), item("b", "second")])
    attacker = connect()
    attacker.execute("set session_replication_role = replica")
    query = f"update recall.items set value = {value} where user_id = %(user)s and key = 'a'"
    attacker.execute(query, {"user": user})
    with pytest.raises(ConfigurationError):
        memory.items.get(user, ["docs"], ["a"])


def test_rotated_keys_open_items(memory: AgentMemory) -> None:
    user = uuid.uuid4()
    memory.encryption.seal_user(user)
    memory.items.put(user, [item("a", {"x": "first"})])
    memory.encryption.rotate_user(user)
    (found,) = memory.items.get(user, ["docs"], ["a"])
    assert found.value == {"x": "first"}
