"""A role that can change rows removes the flag of an encrypted user, the keys, or both."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Callable, Iterator
from typing import Any

import psycopg
import pytest

from pgrecall import AgentMemory, AsyncAgentMemory, ConfigurationError, InvalidInputError
from pgrecall.encryption._keys import UserKeys
from pgrecall.errors import NotAllowedError
from support import call, refused, value
from support.fakes import WordEmbedder
from support.sealed import KEYS, MARK, connected, readable, use_everything, with_words

Connection = psycopg.Connection[Any]

UNSET_FLAG = "update recall.users set is_sealed = false where user_id = %(user)s"
DELETE_KEYS = "delete from recall.user_keys where user_id = %(user)s"
EMBED_ALL = "update recall.users set has_vectors = true, overrides = '{}' where user_id = %(user)s"
WITHOUT_TRIGGERS = "set session_replication_role = replica"
WITH_TRIGGERS = "reset session_replication_role"
FORGET_ALL = "update recall.settings set has_sealed_users = false"


def do(db: Connection, user: uuid.UUID, *statements: str) -> None:
    for statement in statements:
        db.execute(statement, {"user": user} if "%" in statement else None)


Read = Callable[[AgentMemory, uuid.UUID, uuid.UUID], Any]
READS: dict[str, Read] = {
    "messages": lambda m, u, s: m.sessions.messages(u, s),
    "memories": lambda m, u, _: m.memories.list(u),
    "search": lambda m, u, _: m.search(u, "pet", limit=20),
    "search without words": lambda m, u, _: m.search(u, limit=20),
    "search_messages": lambda m, u, _: m.sessions.search_messages(u, MARK),
    "search_sessions": lambda m, u, _: m.sessions.search(u, MARK),
    "context": lambda m, u, s: m.session(user=u, session_id=s).context("What do I keep?"),
    "export": lambda m, u, _: m.privacy.export_user(u),
    "profile": lambda m, u, _: m.memories.profile(u),
    "sessions": lambda m, u, _: m.sessions.list(u),
    "session": lambda m, u, s: m.sessions.get(u, s),
    "working memory": lambda m, u, s: m.session(user=u, session_id=s).get_working(f"task {MARK}"),
}


@pytest.fixture
def used(memory: AgentMemory, sealed: uuid.UUID) -> uuid.UUID:
    """The session of an encrypted user with data of every kind."""
    return use_everything(memory, sealed)


@pytest.fixture
def fresh(configured: str) -> Iterator[AgentMemory]:
    """A driver that has the keys and has not heard of the user yet."""
    with with_words(configured) as memory:
        yield memory


@pytest.mark.parametrize("statements", [(UNSET_FLAG,), (UNSET_FLAG, FORGET_ALL)])
def test_user_with_keys_stays_encrypted_without_the_flag(
    fresh: AgentMemory, sealed: uuid.UUID, used: uuid.UUID, db: Connection,
    statements: tuple[str, ...],
) -> None:  # fmt: skip
    do(db, sealed, *statements)
    for name, read in READS.items():
        found = str(read(fresh, sealed, used))
        assert MARK in found, name
        assert "sealed:v1:" not in found.replace("'sealed:v1:", ""), name
    fresh.remember(sealed, f"The user bought another {MARK}.")
    fresh.session(user=sealed, session_id=used).append(user=f"Now I have two {MARK}.")
    assert readable(db) == []


def test_database_refuses_plaintext_of_a_user_with_keys(
    sealed: uuid.UUID, used: uuid.UUID, db: Connection
) -> None:
    do(db, sealed, UNSET_FLAG)
    with refused("RC006"):
        call(db, "remember", p_user_id=sealed, p_content=f"A readable {MARK}.")
    with refused("RC006"):
        call(db, "append_messages", p_user_id=sealed, p_session_id=used,
             p_messages=[{"role": "user", "content": MARK}])  # fmt: skip
    call(db, "ensure_user", p_external_id=str(sealed))
    assert readable(db) == []
    with refused("RC006"):
        db.execute("update recall.memory_store set content = %s where user_id = %s", [MARK, sealed])


def test_user_encrypted_without_vectors_gets_none(sealed: uuid.UUID, db: Connection) -> None:
    """A driver asks the database whether to send vectors, which give texts away."""
    for statements in ((EMBED_ALL,), (UNSET_FLAG, EMBED_ALL), (UNSET_FLAG, DELETE_KEYS, EMBED_ALL)):
        with db.transaction(force_rollback=True), refused("RC006", "without vectors"):
            do(db, sealed, *statements)
    do(db, sealed, "update recall.users set has_vectors = false where user_id = %(user)s")


@pytest.mark.parametrize("statements", [(DELETE_KEYS,), (UNSET_FLAG, DELETE_KEYS, FORGET_ALL)])
@pytest.mark.parametrize("keys", [KEYS, None])
def test_ciphertext_without_keys_is_an_error_never_content(
    configured: str, sealed: uuid.UUID, used: uuid.UUID, db: Connection,
    statements: tuple[str, ...], keys: Any,
) -> None:  # fmt: skip
    do(db, sealed, *statements)
    for name, read in READS.items():
        with AgentMemory.connect(configured, embedder=False, wrapping_keys=keys) as later:
            if name == "search_messages" and UNSET_FLAG in statements:
                # the database compares words, and finds none in ciphertexts
                assert read(later, sealed, used) == []
                continue
            with pytest.raises(
                (ConfigurationError, NotAllowedError),
                match=r"keys? are missing|no data key|key encryption key|wrapping key",
            ):
                assert not read(later, sealed, used), name


@pytest.mark.parametrize("keys", [KEYS, None])
def test_ciphertext_without_keys_is_an_error_asynchronously(
    configured: str, sealed: uuid.UUID, used: uuid.UUID, db: Connection, keys: Any
) -> None:
    do(db, sealed, UNSET_FLAG, DELETE_KEYS)

    async def run() -> None:
        async with AsyncAgentMemory.connect(
            configured, embedder=False, wrapping_keys=keys
        ) as later:
            for attempt in (
                later.memories.list(sealed),
                later.sessions.messages(sealed, used),
                later.search(sealed),
                later.privacy.export_user(sealed),
                later.session(user=sealed, session_id=used).context("Pets?"),
            ):
                with pytest.raises(ConfigurationError, match="no data key"):
                    await attempt

    asyncio.run(run())


class _Spy(WordEmbedder):
    """An embedder that keeps what it was asked."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[str] = []

    def embed(self, texts: Any) -> Any:
        self.asked += texts
        return super().embed(texts)


def test_worker_gives_no_ciphertext_to_a_model(
    configured: str, sealed: uuid.UUID, used: uuid.UUID, db: Connection
) -> None:
    do(db, sealed, UNSET_FLAG, DELETE_KEYS, WITHOUT_TRIGGERS, EMBED_ALL, WITH_TRIGGERS)
    db.execute("delete from recall.jobs where user_id = %s", [sealed])
    call(db, "enqueue_job", p_user_id=sealed, p_kind="embed", p_session_id=used)
    spy = _Spy()
    with AgentMemory.connect(configured, embedder=spy, wrapping_keys=KEYS) as later:
        report = later.worker(kinds=["embed"]).run_until_idle()
    assert "no data key" in str(report.last_error)
    assert spy.asked == []


def test_ciphertext_is_not_taken_for_a_user_without_keys(
    memory: AgentMemory, configured: str, sealed: uuid.UUID, db: Connection
) -> None:
    """The driver rejects ciphertext that it could not read back, and the call stores nothing."""
    token = UserKeys(sealed, {1: bytes(32)}).seal("x", "memory")
    stranger = uuid.uuid4()
    for driver in (memory, connected(configured, None)):
        chat = driver.session(user=stranger, model="gpt-4o-mini")
        chat.append(user="The prefix sealed:v1: alone is a text.")
        for write in (
            lambda: chat.append(user=f"An open word, and {token}"),  # noqa: B023
            lambda: driver.remember(stranger, token),  # noqa: B023
            lambda: driver.memories.ingest(stranger, [{"content": "tea", "tags": [token]}]),  # noqa: B023
            lambda: chat.context(token),  # noqa: B023
            lambda: chat.put_working("task", "key", {token: 1}),  # noqa: B023
        ):
            with pytest.raises(InvalidInputError, match="holds a ciphertext"):
                write()
        assert driver.memories.list(stranger) == []
        assert [m.content for m in chat.messages()] == ["The prefix sealed:v1: alone is a text."]


# A driver that requires encryption


@pytest.fixture
def requiring(configured: str) -> Iterator[AgentMemory]:
    with with_words(configured, sealed="require") as memory:
        yield memory


def counts(db: Connection, user: uuid.UUID) -> list[int]:
    tables = ("users", "sessions", "conversation_history", "memory_store", "working_memory", "jobs",
              "memory_access_log", "model_calls")  # fmt: skip
    return [
        value(db, f"select count(*) from recall.{table} where user_id = %s", [user])
        for table in tables
    ]


Write = Callable[[AgentMemory, uuid.UUID, uuid.UUID], Any]
WRITES: dict[str, Write] = {
    "session": lambda m, u, _: m.session(user=u, model="gpt-4o-mini").open(),
    "append": lambda m, u, s: m.session(user=u, session_id=s).append(user=MARK),
    "remember": lambda m, u, _: m.remember(u, MARK),
    "ingest": lambda m, u, _: m.memories.ingest(u, [{"content": MARK}]),
    "put_working": lambda m, u, s: m.session(user=u, session_id=s).put_working("t", "k", MARK),
    "configure_user": lambda m, u, _: m.admin.configure_user(u, max_facts_per_turn=2),
    "ensure_user": lambda m, u, _: m.users.ensure(u),
    "ensure_user, metadata": lambda m, u, _: m.users.ensure(u, metadata={"a": MARK}),
    "import_user": lambda m, u, _: m.privacy.import_user(
        {"user_id": str(u), "tables": {"users": [{"is_sealed": True}], "user_keys": []}}
    ),
}


@pytest.mark.parametrize("is_downgraded", [False, True])
def test_driver_that_requires_encryption_writes_nothing_for_a_user_without_keys(
    requiring: AgentMemory, memory: AgentMemory, sealed: uuid.UUID, db: Connection,
    is_downgraded: bool,
) -> None:  # fmt: skip
    user, session = uuid.uuid4(), uuid.uuid4()
    if is_downgraded:
        user, session = sealed, use_everything(memory, sealed)
        do(db, user, UNSET_FLAG, DELETE_KEYS)
    before = counts(db, user)
    for name, write in WRITES.items():
        with pytest.raises((ConfigurationError, NotAllowedError), match=r"this driver requires"):
            assert not write(requiring, user, session), name
    assert counts(db, user) == before
    assert readable(db) == []


def test_driver_that_requires_encryption_reads_nothing_of_a_user_without_keys(
    requiring: AgentMemory, memory: AgentMemory, user: uuid.UUID
) -> None:
    session = use_everything(memory, user)  # not encrypted
    for name, read in READS.items():
        with pytest.raises(ConfigurationError, match="no data key, and this driver requires one"):
            assert not read(requiring, user, session), name
    memory.privacy.forget_user(user)


def test_driver_that_requires_encryption_does_no_job_of_a_user_without_keys(
    requiring: AgentMemory, memory: AgentMemory, user: uuid.UUID, db: Connection
) -> None:
    session = use_everything(memory, user)
    call(db, "enqueue_job", p_user_id=user, p_kind="embed", p_session_id=session)
    report = requiring.worker(kinds=["embed"]).run_until_idle()
    assert "this driver requires one" in str(report.last_error)
    assert report.done == {}
    memory.privacy.forget_user(user)


def test_driver_that_requires_encryption_serves_encrypted_users(
    requiring: AgentMemory, user: uuid.UUID, db: Connection
) -> None:
    assert requiring.encryption.seal_user(user)
    session = use_everything(requiring, user)
    for name, read in READS.items():
        assert MARK in str(read(requiring, user, session)), name
    assert readable(db) == []
    document = requiring.privacy.export_user(user, sealed=True)
    requiring.privacy.forget_user(user)
    requiring.privacy.import_user(document)
    assert MARK in str(requiring.memories.list(user))


def test_asynchronous_driver_that_requires_encryption_refuses_a_user_without_keys(
    configured: str, user: uuid.UUID, db: Connection
) -> None:
    async def run() -> None:
        async with AsyncAgentMemory.connect(
            configured, embedder=False, wrapping_keys=KEYS, sealed="require"
        ) as memory:
            for attempt in (memory.remember(user, MARK), memory.memories.list(user)):
                with pytest.raises(ConfigurationError, match="requires one"):
                    await attempt
            await memory.encryption.seal_user(user)
            await memory.remember(user, MARK)
            assert [one.content for one in await memory.memories.list(user)] == [MARK]

    asyncio.run(run())
    assert readable(db) == []


def test_driver_that_requires_encryption_needs_keys(
    configured: str, tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(ConfigurationError, match="no key encryption key"):
        AgentMemory.connect(configured, sealed="require")
    with pytest.raises(ConfigurationError, match="sealed is 'requires'"):
        AgentMemory.connect(configured, wrapping_keys=KEYS, sealed="requires")  # type: ignore[arg-type]
    monkeypatch.setenv("PGRECALL_DSN", configured)
    monkeypatch.setenv("PGRECALL_SEALED", "require")
    with pytest.raises(ConfigurationError, match="no key encryption key"):
        AgentMemory.from_environment()
    file = tmp_path / "keys"
    file.write_text("first:" + "A" * 43 + "=")
    file.chmod(0o600)
    monkeypatch.setenv("PGRECALL_WRAPPING_KEY_FILE", str(file))
    with (
        AgentMemory.from_environment() as memory,
        pytest.raises(ConfigurationError, match="requires one"),
    ):
        memory.memories.list(uuid.uuid4())


def test_driver_that_requires_encryption_refuses_plaintext_in_a_transaction_of_the_caller(
    requiring: AgentMemory, configured: str, user: uuid.UUID
) -> None:
    with psycopg.connect(configured) as conn:
        joined = requiring.joining(conn)
        with pytest.raises(ConfigurationError, match="requires one"):
            joined.remember(user, MARK)
