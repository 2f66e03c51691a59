"""A change of the embedding model with encrypted users, whose worker has their keys."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest

from pgrecall import AgentMemory
from support import call, configure, rows, value
from support.fakes import MODEL, WordEmbedder
from support.sealed import KEYS, readable, with_words
from support.servers import TestServer

Connection = psycopg.Connection[Any]

NEW, WIDE = "wide", 48
OWLS, CATS = "The user keeps a cockatoo named Otto.", "The user had seven cats."


@pytest.fixture
def own_dsn(server: TestServer) -> Iterator[str]:
    """A database of its own: a change concerns all users of a database."""
    name = server.cloned_database("sealed_migration")
    configure(server.dsn(name), embedding_model=MODEL, extraction="none")
    yield server.dsn(name)
    server.drop_database(name)


def wide(dsn: str) -> AgentMemory:
    return AgentMemory.connect(dsn, embedder=WordEmbedder(NEW, WIDE), wrapping_keys=KEYS)


def filled(memory: AgentMemory, user: uuid.UUID, **seal: bool) -> None:
    """Give a user memories, an ended one, a restored one, messages and a summary."""
    memory.encryption.seal_user(user, **seal)
    kept = memory.remember(user, OWLS)
    memory.memories.edit(user, kept.memory_id, "The user keeps two cockatoos.")
    memory.memories.restore(user, kept.memory_id)  # its text was encrypted for another row
    gone = memory.remember(user, CATS)
    memory.memories.retract(user, gone.memory_id)
    chat = memory.session(user=user, model="gpt-4o-mini", extraction="none")
    chat.append(user="My cockatoo is called Otto.", reply="How nice.")
    memory.worker().run_until_idle()


def seen(memory: AgentMemory, user: uuid.UUID) -> list[Any]:
    return [
        [(hit.content, hit.similarity) for hit in memory.search(user, "cockatoo named Otto")],
        [(hit.content, hit.similarity) for hit in memory.sessions.search_messages(user, "Otto")],
    ]


def advanced(memory: AgentMemory) -> str:
    """Run the maintenance of the change once; return its state."""
    memory.admin.advance_embedding_migration()
    change = memory.admin.embedding_migration()
    assert change is not None
    return change.state


def test_worker_with_keys_embeds_decrypted_texts_by_the_new_model(own_dsn: str) -> None:
    user, plain = uuid.uuid4(), uuid.uuid4()
    with with_words(own_dsn) as memory, psycopg.connect(own_dsn, autocommit=True) as db:
        filled(memory, user, vectors=True)
        memory.remember(plain, OWLS)
        before = seen(memory, user)
        call(db, "start_embedding_migration", p_model=NEW, p_dimensions=WIDE, p_keep="0")
        new = WordEmbedder(NEW, WIDE)
        worker = memory.worker(embedders=[new])
        memory.admin.advance_embedding_migration()
        worker.run_until_idle()
        assert seen(memory, user) == before
        assert set(new.texts) == {
            OWLS, CATS, "The user keeps two cockatoos.", "user: My cockatoo is called Otto.",
            "assistant: How nice.",
        }  # fmt: skip
        for state in ("switched", "done"):
            assert advanced(memory) == state
        models = rows(
            db,
            "select embedding_model as model, count(*) as n"
            "  from recall.memory_embedding where user_id = %s group by 1",
            [user],
        )
        assert models == [{"model": NEW, "n": 1}]
        with wide(own_dsn) as fresh:
            memories, messages = seen(fresh, user)
        assert (memories[0][0], messages[0][0]) == (OWLS, "My cockatoo is called Otto.")
        (wanted,) = WordEmbedder(NEW, WIDE).embed([OWLS])
        assert value(db, "select max(embedding <=> %s::halfvec) from recall.memory_embedding"
                         " where user_id = %s", [str(wanted), user]) < 0.001  # fmt: skip
        assert readable(db, "cockatoo") == ["recall.memory_store"], "the other user's"
        assert call(db, "verify_integrity", p_user_id=user) == []


def test_job_of_an_encrypted_user_waits_for_a_worker_with_keys(own_dsn: str) -> None:
    user = uuid.uuid4()
    with with_words(own_dsn) as memory, psycopg.connect(own_dsn, autocommit=True) as db:
        filled(memory, user, vectors=True)
        call(db, "start_embedding_migration", p_model=NEW, p_dimensions=WIDE)
        memory.admin.advance_embedding_migration()
        new = WordEmbedder(NEW, WIDE)
        with AgentMemory.connect(own_dsn, embedder=WordEmbedder()) as keyless:
            report = keyless.worker(embedders=[new]).run_until_idle()
        assert (new.texts, report.done) == ([], {})
        (job,) = rows(db, "select state, run_at > now() as waits from recall.jobs")
        assert job == {"state": "ready", "waits": True}
        db.execute("update recall.jobs set run_at = now()")
        memory.worker(embedders=[new]).run_until_idle()
        assert advanced(memory) == "switched"
        assert OWLS in new.texts


def test_user_encrypted_without_vectors_takes_no_part(own_dsn: str) -> None:
    user = uuid.uuid4()
    with with_words(own_dsn) as memory, psycopg.connect(own_dsn, autocommit=True) as db:
        filled(memory, user)
        before = seen(memory, user)
        (estimate,) = call(db, "estimate_embedding_migration", p_model=NEW)
        assert estimate["texts"] == 0
        call(db, "start_embedding_migration", p_model=NEW, p_dimensions=WIDE, p_keep="0")
        for state in ("switched", "done"):
            assert advanced(memory) == state
        with wide(own_dsn) as fresh:
            assert seen(fresh, user) == before
        assert value(db, "select count(*) from recall.memory_embedding") == 0
