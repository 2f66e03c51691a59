"""The driver where settings.require_identity is on, with the login of an application."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import psycopg
import pytest
from psycopg.conninfo import make_conninfo
from psycopg_pool import ConnectionPool

from pgrecall import AgentMemory, AsyncAgentMemory, Limits
from pgrecall.cli._main import _run
from pgrecall.errors import NotAllowedError, NotFoundError
from pgrecall.integrations.mcp import memory_server
from support import call, login_role
from support.fakes import MODEL, WordEmbedder
from support.inspecting import JSON, TOKEN, entered, furnish_user, pages_of


@pytest.fixture(scope="module")
def writer(dsn: str) -> Iterator[str]:
    """The DSN of a login that may what an application may."""
    with psycopg.connect(dsn, autocommit=True) as conn:
        changes = {"require_identity": True, "embedding_model": MODEL, "extraction": "none"}
        call(conn, "configure", p_changes=changes)
        with login_role(conn, member_of=["recall_writer"]) as login:
            yield make_conninfo(dsn, **login)


@contextmanager
def by_dsn(writer: str) -> Iterator[AgentMemory]:
    with AgentMemory.connect(writer, embedder=WordEmbedder()) as memory:
        yield memory


@contextmanager
def by_pooler(writer: str) -> Iterator[AgentMemory]:
    limits = Limits(pooler=True, max_connections=1)
    with AgentMemory.connect(writer, embedder=WordEmbedder(), limits=limits) as memory:
        yield memory


@contextmanager
def by_replica(writer: str) -> Iterator[AgentMemory]:
    embedder = WordEmbedder()
    with AgentMemory.connect(
        writer, history_dsn=writer, memory_dsn=writer, embedder=embedder
    ) as memory:
        yield memory


@contextmanager
def by_pool(writer: str, autocommit: bool = True) -> Iterator[AgentMemory]:
    with (
        ConnectionPool(writer, open=True, min_size=1, kwargs={"autocommit": autocommit}) as pool,
        AgentMemory.connect(pool, embedder=WordEmbedder()) as memory,
    ):
        yield memory


@contextmanager
def by_connection(writer: str, autocommit: bool = True) -> Iterator[AgentMemory]:
    with (
        psycopg.connect(writer, autocommit=autocommit) as conn,
        AgentMemory.connect(conn, embedder=WordEmbedder()) as memory,
    ):
        yield memory


@contextmanager
def by_joining(writer: str) -> Iterator[AgentMemory]:
    with (
        AgentMemory.connect(writer, embedder=WordEmbedder()) as memory,
        psycopg.connect(writer) as conn,
    ):
        yield memory.joining(conn)


WAYS: dict[str, Callable[[str], AbstractContextManager[AgentMemory]]] = {
    "dsn": by_dsn,
    "pooler": by_pooler,
    "replica": by_replica,
    "pool": by_pool,
    "pool without autocommit": lambda writer: by_pool(writer, autocommit=False),
    "connection": by_connection,
    "transaction": lambda writer: by_connection(writer, autocommit=False),
    "joining": by_joining,
}


def converse(memory: AgentMemory, user: str | uuid.UUID) -> None:
    """Use what an application uses, for one user."""
    user_id = memory.users.ensure(user, metadata={"plan": "pro"})
    assert memory.users.ensure(user_id) == memory.users.id(user)
    chat = memory.session(user=user, model="gpt-4o-mini", session_id="diary", title="Diary")
    chat.append([{"role": "user", "content": f"I am {user}"}], request_id=uuid.uuid4())
    chat.append(user="I like tea", reply="I see.")
    kept = memory.remember(user, f"{user} likes green tea", slot="drink")
    memory.memories.ingest(user, [{"content": f"{user} lives in Lyon"}])
    memory.memories.batch_import([{"user": user, "content": f"{user} plays the viola"}])
    (found,) = memory.search(user, "tea", limit=1)
    assert found.content == f"{user} likes green tea"
    # `context` records what it used in the background, for which one connection is too few
    assert any("tea" in str(one) for one in chat.compile("Which tea?").messages)
    memory.memories.record_access(user, [found.memory_id], [1.0])
    assert memory.memories.profile(user)["drink"]["content"] == f"{user} likes green tea"
    assert {row.content for row in memory.memories.list(user)} >= {f"{user} lives in Lyon"}
    memory.memories.retract(user, kept.memory_id)
    chat.sync([{"role": "user", "content": f"I am {user}"}])
    assert [one.turn_count for one in memory.sessions.list(user)] == [3]
    assert memory.privacy.export_user(user)["user_id"] == str(user_id)
    assert memory.privacy.verify_integrity(user) == []
    chat.close()


@pytest.mark.parametrize("way", WAYS)
def test_driver_names_the_user_of_each_call(writer: str, way: str) -> None:
    with WAYS[way](writer) as memory:
        for _ in range(2):  # the second time over connections and caches that are known
            for user in (f"ada {uuid.uuid4()}", uuid.uuid4(), f"bob {uuid.uuid4()}"):
                converse(memory, user)


def test_async_driver_names_the_user_of_each_call(writer: str) -> None:
    async def use() -> None:
        async with AsyncAgentMemory.connect(writer, embedder=False) as memory:

            async def one(user: str) -> None:
                await memory.users.ensure(user)
                async with memory.session(user=user, model="m") as chat:
                    await chat.append(user=f"I am {user}")
                await memory.remember(user, f"{user} likes tea")
                [found] = await memory.memories.list(user)
                assert found.content == f"{user} likes tea"

            await asyncio.gather(*(one(f"{n} {uuid.uuid4()}") for n in range(20)))

    asyncio.run(use())


def test_statement_beside_the_driver_needs_an_identity(writer: str) -> None:
    user = uuid.uuid4()
    with AgentMemory.connect(writer, embedder=False) as memory, psycopg.connect(writer) as conn:
        memory.remember(user, "Likes tea")
        with pytest.raises(NotAllowedError, match="this transaction has no user"):
            conn.execute("select recall.get_profile(%s)", [user])
        conn.rollback()
        memory.joining(conn).memories.list(user)
        conn.execute("select recall.get_profile(%s)", [user])
        with pytest.raises(NotAllowedError, match="is not the user of this transaction"):
            conn.execute("select recall.get_profile(%s)", [uuid.uuid4()])


def test_commands_name_the_user(
    writer: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ada = f"ada-{uuid.uuid4()}"
    messages = tmp_path / "messages.jsonl"
    messages.write_text(f'{{"user": "{ada}", "session": "s", "role": "user", "content": "Tea."}}')
    facts = tmp_path / "facts.jsonl"
    facts.write_text(f'{{"user": "{ada}", "content": "Likes tea"}}')
    for arguments in (
        ["import", messages, "--facts", facts],
        ["memories", "add", "Lives in Lyon", "--user", ada],
        ["memories", "list", "--user", ada],
        ["search", "tea", "--user", ada],
        ["context", "tea?", "--user", ada],
        ["calls", "list", "--user", ada],
        ["export", "--user", ada, "--output", tmp_path / "ada.json"],
        ["verify", "--user", ada],
    ):
        plain = arguments[0] in ("export", "verify", "calls") or arguments[1] == "list"
        line = [*map(str, arguments), *([] if plain else ["--no-embedding"]), "--dsn", writer]
        assert _run(line) == 0, (line, capsys.readouterr())


def test_mcp_server_names_its_user(writer: str) -> None:
    async def use() -> None:
        from mcp import Client

        async with (
            AsyncAgentMemory.connect(writer, embedder=False) as memory,
            Client(memory_server(memory, user=f"ada {uuid.uuid4()}")) as client,
        ):
            for tool, arguments in (
                ("remember", {"content": "Likes green tea", "slot": "drink"}),
                ("search_memories", {"query": "tea"}),
                ("recall_context", {"query": "Which tea?"}),
                ("search_messages", {"query": "tea"}),
                ("get_user_profile", {}),
            ):
                result = await client.call_tool(tool, arguments)
                assert not result.is_error, (tool, result.content)

    asyncio.run(use())


def test_worker_needs_no_identity(dsn: str, writer: str) -> None:
    user = uuid.uuid4()
    with AgentMemory.connect(writer, embedder=WordEmbedder()) as memory:
        chat = memory.session(user=user, model="gpt-4o-mini", extraction="verbatim")
        chat.append(user="I live in Lyon and I play the viola.", reply="I see.")
        chat.close()
    with psycopg.connect(dsn, autocommit=True) as conn:
        with login_role(conn, member_of=["recall_worker"]) as login:
            worker_dsn = make_conninfo(dsn, **login)
            with AgentMemory.connect(worker_dsn, embedder=WordEmbedder()) as memory:
                assert memory.worker().run_until_idle() is not None
                with psycopg.connect(worker_dsn, autocommit=True) as bare:
                    bare.execute("select * from recall.run_due_maintenance()")
        assert call(conn, "list_memories", p_user_id=user)


def test_unknown_user_is_not_found(writer: str) -> None:
    with AgentMemory.connect(writer, embedder=False) as memory, pytest.raises(NotFoundError):
        memory.privacy.export_user("nobody")


@pytest.mark.parametrize("write", [False, True])
def test_inspector_names_the_user(dsn: str, writer: str, write: bool) -> None:
    with AgentMemory.connect(writer, embedder=False) as memory:
        ids = furnish_user(memory, f"ada-{uuid.uuid4()}")
    # a writer may not list users, jobs and the state of the server
    paths = [path for path in pages_of(ids) if path.startswith("/users/") and "/jobs/" not in path]
    with entered(writer, write=write) as client:
        for path in paths:
            answer = client.get(path, headers=JSON)
            assert answer.status_code == 200, (path, answer.text)
            assert "this transaction has no user" not in answer.text, path
            assert "this transaction has no user" not in client.get(path).text, path
        given = {"user_id": str(ids["user_id"]), "query": "Lyon"}
        headers = {"Authorization": f"Bearer {TOKEN}"}
        found = client.post("/rpc/search", json=given, headers=headers)
        assert found.status_code == 200, found.text
        if write:
            made = client.post("/rpc/ensure_user", json={"external_id": "bob"}, headers=headers)
            assert made.status_code == 200, made.text
