"""The driver before the coordinator of a Citus cluster."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest

from pgrecall import AgentMemory, Limits, NotAllowedError
from pgrecall._sql import Call
from pgrecall._sync.transport import Transport
from support.clusters import Cluster
from support.fakes import WordEmbedder
from support.servers import DIMENSIONS

MODEL = "openai:text-embedding-3-small"


@pytest.fixture(params=["cluster", "one node"])
def memory(request: pytest.FixtureRequest, cluster: Cluster) -> Iterator[AgentMemory]:
    dsn = cluster.dsn if request.param == "cluster" else cluster.single
    embedder = WordEmbedder(MODEL, DIMENSIONS)
    with AgentMemory.connect(dsn, embedder=embedder) as memory:
        yield memory


def converse(memory: AgentMemory, user: str, likes: str) -> Any:
    chat = memory.session(user=user, model="gpt-4o-mini")
    memory.remember(user, f"Prefers {likes}", kind="preference")
    request = uuid.uuid4()
    for _ in range(2):
        chat.append(user="How do I indent?", reply=f"With {likes}.", request_id=request)
    return chat


def test_users_have_sessions_memories_and_contexts_of_their_own(memory: AgentMemory) -> None:
    ada, bob = f"ada-{uuid.uuid4()}", f"bob-{uuid.uuid4()}"
    of_ada, of_bob = converse(memory, ada, "tabs"), converse(memory, bob, "spaces")
    done = memory.worker().run_until_idle().done
    assert done["embed"] >= 2

    for user, chat, likes in ((ada, of_ada, "tabs"), (bob, of_bob, "spaces")):
        assert [found.content for found in memory.search(user, "tabs spaces")] == [
            f"Prefers {likes}"
        ]
        context = chat.context(f"Prefers {likes}?")
        assert f"Prefers {likes}" in str(context)
        assert str(context).count(f"With {likes}.") == 1
        assert len(chat.messages()) == 2


def test_calls_within_a_transaction_of_the_caller_belong_together(cluster: Cluster) -> None:
    user = f"eve-{uuid.uuid4()}"
    embedder = WordEmbedder(MODEL, DIMENSIONS)
    with psycopg.connect(cluster.dsn, autocommit=True) as connection:
        memory = AgentMemory.connect(connection, embedder=embedder)
        memory.session(user=user, model="gpt-4o-mini").open()
        with connection.transaction(force_rollback=True):
            memory.remember(user, "Lives in Porto")
        with connection.transaction():
            memory.remember(user, "Lives in Lyon")
            found = memory.search(user, "Lives in Porto or Lyon")
        assert [one.content for one in found] == ["Lives in Lyon"]


def test_a_call_that_names_another_user_is_refused(cluster: Cluster, memory: AgentMemory) -> None:
    ada, bob = (converse(memory, f"{name}-{uuid.uuid4()}", "tea").user_id for name in "ab")
    transport = Transport(cluster.dsn, Limits())
    asked = Call.of("list_sessions", user_id=bob)
    frame = transport._frame
    transport._frame = lambda call, seconds: (str(ada), *frame(call, seconds)[1:])  # type: ignore[method-assign]
    try:
        with pytest.raises(NotAllowedError) as refused:
            transport.send(asked, False)
        assert refused.value.sqlstate == "RC006"
    finally:
        transport.close()


def test_a_coordinator_is_recognized(cluster: Cluster) -> None:
    for dsn, is_cluster in ((cluster.dsn, True), (cluster.single, False)):
        transport = Transport(dsn, Limits(max_connections=1))
        try:
            transport.send(Call("", b"select 1", {}), False)
            with transport._pool().connection() as connection:
                assert (connection in transport._clusters._connections) == is_cluster
                assert isinstance(connection, psycopg.Connection)
        finally:
            transport.close()
