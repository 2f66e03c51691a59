"""The stores of LangGraph: items of users by namespace, with lifetimes and vectors."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Callable, Iterator
from typing import Any

import psycopg
import pytest
from langgraph.store.base import GetOp, InvalidNamespaceError, PutOp, SearchOp

from pgrecall import AgentMemory
from pgrecall.encryption import LocalWrappingKeys
from pgrecall.errors import (
    ConfigurationError,
    InvalidEmbeddingError,
    InvalidInputError,
    NotAllowedError,
)
from pgrecall.integrations.langgraph import AsyncPgRecallStore, PgRecallStore


@pytest.fixture
def memory(dsn: str) -> Iterator[AgentMemory]:
    with AgentMemory.connect(dsn, embedder=False) as memory:
        yield memory


@pytest.fixture
def user() -> str:
    return f"ada-{uuid.uuid4()}"


def letters(texts: list[str]) -> list[list[float]]:
    """Return a vector of the counts of a few letters."""
    return [[float(text.count(letter)) for letter in "abcde"] for text in texts]


def of_second_label(namespace: tuple[str, ...]) -> str:
    return namespace[1]


def test_each_user_of_the_namespace_has_items_of_their_own(memory: AgentMemory) -> None:
    ada, bob = (f"{name}-{uuid.uuid4()}" for name in ("ada", "bob"))
    store = PgRecallStore(memory, user=of_second_label)
    puts = [PutOp(("users", one), "theme", {"of": one}) for one in (ada, bob)]
    reads = [GetOp(("users", one), "theme") for one in (ada, bob)]
    assert store.batch([*reads, *puts]) == [None] * 4  # reads come before writes
    found = store.batch([SearchOp(("users", bob)), *reads])
    assert [item.value for item in found[0]] == [{"of": bob}]
    assert [item.value["of"] for item in found[1:]] == [ada, bob]
    assert [row.value for row in memory.items.search(ada)] == [{"of": ada}]
    with pytest.raises(IndexError):  # no user, so no search over all users
        store.search(("users",))


@pytest.mark.parametrize("nobody", [None, "", 7])
def test_namespace_without_a_user_is_refused(memory: AgentMemory, nobody: Any) -> None:
    store = PgRecallStore(memory, user=lambda _: nobody)
    with pytest.raises(InvalidInputError, match="the user of the namespace"):
        store.put(("a",), "b", {})
    with pytest.raises((TypeError, ValueError), match="user"):
        PgRecallStore(memory, user=None)  # type: ignore[arg-type]


def test_bad_namespace_in_a_batch_writes_nothing(memory: AgentMemory, user: str) -> None:
    store = PgRecallStore(memory, user=user)
    with pytest.raises(InvalidNamespaceError):
        store.batch([PutOp(("valid",), "key", {"a": 1}), PutOp(("in.valid",), "key", {})])
    assert store.search(()) == []


def test_reads_renew_a_lifetime_unless_told_otherwise(
    memory: AgentMemory, user: str, db: psycopg.Connection
) -> None:
    store = PgRecallStore(memory, user=user, ttl={"default_ttl": 10})

    def minutes_left() -> float:
        row = db.execute(
            "select extract(epoch from expires_at - now()) / 60 from recall.items"
            " where user_id = recall.user_id(%s)", [user],
        ).fetchone()  # fmt: skip
        assert row is not None
        return float(row[0])

    def age() -> None:
        db.execute(
            "update recall.items set expires_at = expires_at - interval '5 minutes'"
            " where user_id = recall.user_id(%s)", [user],
        )  # fmt: skip

    store.put(("a",), "k", {"n": 1})
    assert minutes_left() == pytest.approx(10, abs=0.5)
    reads: list[Callable[[bool | None], object]] = [
        lambda renew: store.get(("a",), "k", refresh_ttl=renew),
        lambda renew: store.search(("a",), refresh_ttl=renew),
    ]
    for read in reads:
        age()
        assert read(False)
        assert minutes_left() == pytest.approx(5, abs=0.5)
        assert read(None)
        assert minutes_left() == pytest.approx(10, abs=0.5)
    age()
    age()
    assert [read(True) for read in reads] == [None, []]  # expired: never returned, nor renewed
    assert store.list_namespaces() == []


def test_read_of_an_item_without_a_lifetime_writes_nothing(
    memory: AgentMemory, user: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = PgRecallStore(memory, user=user)
    store.put(("a",), "k", {"n": 1})
    monkeypatch.setattr(memory.items, "touch", lambda *_: pytest.fail("a write"))
    assert store.get(("a",), "k") is not None
    assert len(store.search(("a",))) == 1


@pytest.mark.parametrize(
    ("options", "word"),
    [
        ({"ttl": {"omit_expired": False}}, "omit_expired"),
        ({"index": {"dims": 5, "embed": letters, "distance_type": "l1"}}, "distance_type"),
        ({"index": {"dims": 5, "embed": letters, "fields": "text"}}, "fields"),
    ],
)
def test_unavailable_option_is_refused(
    memory: AgentMemory, options: dict[str, Any], word: str
) -> None:
    with pytest.raises(ValueError, match=word):
        PgRecallStore(memory, user="ada", **options)


def test_vector_of_another_length_is_refused_before_a_write(memory: AgentMemory, user: str) -> None:
    store = PgRecallStore(memory, user=user, index={"dims": 3, "embed": letters})
    with pytest.raises(InvalidEmbeddingError, match="dims is 3"):
        store.put(("a",), "k", {"text": "abc"})
    assert store.get(("a",), "k") is None


def test_search_by_meaning_uses_the_best_text_and_one_model(memory: AgentMemory, user: str) -> None:
    index: Any = {"dims": 5, "embed": letters, "fields": ["title", "tags[*]"], "model": "one"}
    store = PgRecallStore(memory, user=user, index=index)
    store.put(("docs",), "a", {"title": "ddd", "tags": ["eee", "aaa"]})
    store.put(("docs",), "b", {"title": "abab", "tags": []})
    store.put(("docs",), "no vector", {"title": "aaa"}, index=False)
    found = store.search(("docs",), query="aa")
    assert [(item.key, round(item.score or 0, 3)) for item in found] == [("a", 1), ("b", 0.707)]
    assert store.search(("docs",), query="aa", filter={"title": {"$gt": "b"}})[0].key == "a"
    other = PgRecallStore(memory, user=user, index={**index, "model": "another"})
    assert other.search(("docs",), query="aa") == []
    assert len(other.search(("docs",))) == 3


def test_setup_tells_that_the_schema_is_missing(server: Any) -> None:
    with server.dropping_databases():
        dsn = server.dsn(server.create_database("no_schema"))
        memory = AgentMemory.connect(dsn, embedder=False)
        with pytest.raises(ConfigurationError):
            PgRecallStore(memory, user="ada").setup()
        memory.close()


def test_encrypted_user_is_searched_by_namespace_only(
    dsn: str, user: str, db: psycopg.Connection
) -> None:
    keys = LocalWrappingKeys({"k1": bytes(range(32))})
    with AgentMemory.connect(dsn, embedder=False, wrapping_keys=keys) as memory:
        memory.encryption.seal_user(user)
        store = PgRecallStore(memory, user=user)
        store.put(("notes",), "k", {"said": "alphacanary"})
        assert [item.value for item in store.search(("notes",))] == [{"said": "alphacanary"}]
        with pytest.raises(NotAllowedError):
            store.search(("notes",), filter={"said": "alphacanary"})
        stored = db.execute(
            "select value::text from recall.items where user_id = recall.user_id(%s)", [user]
        ).fetchall()
        assert "alphacanary" not in str(stored)


def test_asynchronous_store_joins_the_operations_of_one_moment(dsn: str, user: str) -> None:
    async def main() -> None:
        index: Any = {"dims": 5, "embed": letters}
        async with AsyncPgRecallStore.from_conn_string(dsn, user=user, index=index) as store:
            await store.setup()
            batches = 0
            abatch = store.abatch

            async def counted(ops: Any) -> Any:
                nonlocal batches
                batches += 1
                return await abatch(ops)

            store.abatch = counted  # type: ignore[method-assign]
            await asyncio.gather(
                *(store.aput(("n",), f"k{n}", {"text": "abc"[n % 3]}) for n in range(30))
            )
            assert batches == 1
            assert len(await store.asearch(("n",), limit=100)) == 30
            assert (await store.asearch(("n",), query="b"))[0].value == {"text": "b"}
            await store.adelete(("n",), "k0")
            assert await store.aget(("n",), "k0") is None
            assert await store.alist_namespaces() == [("n",)]

    asyncio.run(main())


def test_blocking_store_serves_an_event_loop(memory: AgentMemory, user: str) -> None:
    async def main() -> None:
        store = PgRecallStore(memory, user=user, index={"dims": 5, "embed": letters})
        await asyncio.gather(*(store.aput(("n",), f"k{n}", {"n": n}) for n in range(20)))
        found = await store.asearch(("n",), limit=50)
        assert sorted(item.value["n"] for item in found) == list(range(20))

    asyncio.run(main())
