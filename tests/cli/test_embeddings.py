"""`pgrecall embeddings`, and the driver before, during and after a change of the model."""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable, Iterator
from typing import Any

import psycopg
import pytest

import pgrecall._info
from pgrecall import AgentMemory
from pgrecall.cli._main import main
from pgrecall.errors import InvalidEmbeddingError
from support.embeddings import hashed
from support.servers import TestServer

OLD, NEW, OWN = "openai:old", "openai:new", "openai:own"
DIMENSIONS = {OLD: 384, NEW: 768, OWN: 384}

Run = Callable[..., tuple[int, str, str]]


class HashEmbedder:
    """Vectors of a model whose name says how many dimensions they have."""

    def __init__(self, model: str) -> None:
        self.model = model
        self.dimensions = DIMENSIONS[model]

    def embed(self, texts: Any) -> list[list[float]]:
        return [hashed(f"{self.model} {text}", self.dimensions) for text in texts]


@pytest.fixture
def fresh(server: TestServer, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The DSN of a database of its own, whose models are fakes that the driver knows by name."""
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    monkeypatch.setattr(pgrecall._info, "embedder_from_name", lambda name, **_: HashEmbedder(name))
    monkeypatch.delenv("PGRECALL_DSN", raising=False)
    name = server.cloned_database("embeddings")
    with psycopg.connect(server.dsn(name), autocommit=True) as conn:
        conn.execute("update recall.settings set embedding_model = %s, extraction = 'none'", [OLD])
    yield server.dsn(name)
    server.drop_database(name)


@pytest.fixture
def pgrecall_(capsys: pytest.CaptureFixture[str], fresh: str) -> Run:
    def run(*arguments: str) -> tuple[int, str, str]:
        capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            main([*arguments, "--dsn", fresh])
        said = capsys.readouterr()
        return int(ended.value.code or 0), said.out, said.err

    return run


def test_migration_by_command_keeps_open_clients_working(fresh: str, pgrecall_: Run) -> None:
    ada, ben = uuid.uuid4(), uuid.uuid4()
    with AgentMemory.connect(fresh) as memory, AgentMemory.connect(fresh) as other:
        for number in range(30):
            memory.memories.remember(ada, f"Ada owns item{number}.")
        other.memories.remember(ben, "Ben lives in Lyon.")
        session = memory.session(user=ada, model="gpt-4o-mini")
        session.append([{"role": "user", "content": "Where is item7?"}])
        memory.worker().run_until_idle()
        before = [hit.content for hit in memory.memories.search(ada, "item7 item8")]

        status, said, _ = pgrecall_("embeddings", "migrate", "--to", NEW, "--estimate")
        assert (status, "32 texts" in said, "has no price" in said) == (0, True, True)
        status, said, _ = pgrecall_("embeddings", "status")
        assert said.strip() == f"embedding model {OLD}, 384 dimensions"
        arguments = ("embeddings", "migrate", "--to", NEW, "--dimensions", "768", "--yes")
        status, said, _ = pgrecall_(*arguments, "--no-wait")
        assert status == 0
        status, said, _ = pgrecall_("embeddings", "status")
        assert "running, 0% of 32 texts" in said
        assert [pgrecall_("embeddings", what)[0] for what in ("pause", "resume")] == [0, 0]
        worker = memory.worker()
        for _ in range(5):
            memory.admin.advance_embedding_migration()
            worker.run_until_idle()
            worker._looked = None
            if (change := memory.admin.embedding_migration()) and change.state == "running":
                assert [hit.content for hit in other.memories.search(ada, "item7 item8")] == before
        change = memory.admin.embedding_migration()
        assert change is not None
        assert (change.state, change.share, change.embedded) == ("switched", 1.0, 32)

        # Clients that were open before the switch embed again, once.
        best = {hit.content for hit in other.memories.search(ada, "item7 item8", limit=2)}
        assert best == {"Ada owns item7.", "Ada owns item8."}
        assert other.sessions.search_messages(ada, "item7")
        found = memory.memories.remember(ben, "Ben plays chess.")
        assert found.outcome == "added"
        edited = memory.memories.edit(ben, found.memory_id, "Ben plays go.")
        assert memory.memories.search(ben, "go")[0].memory_id == edited
        compiled = other.session(user=ada, model="gpt-4o-mini").compile("item7")
        assert compiled.messages
        worker.run_until_idle()
    with psycopg.connect(fresh) as conn:
        models = conn.execute("select embedding_model, count(*) from recall.memory_embedding"
                              " where user_id = %s group by 1", [ben]).fetchall()  # fmt: skip
    assert dict(models).get(NEW, 0) >= 2
    status, said, _ = pgrecall_("embeddings", "status")
    assert "switched; the old vectors are kept until" in said
    status, _, error = pgrecall_("embeddings", "cancel", "--yes")
    assert (status != 0, f"--to {OLD}" in error) == (True, True)


def test_status_without_time_to_keep_says_that_old_vectors_are_deleted(
    fresh: str, pgrecall_: Run
) -> None:
    user = uuid.uuid4()
    with AgentMemory.connect(fresh) as memory:
        memory.memories.remember(user, "Ada hums.")
        arguments = ("--to", NEW, "--dimensions", "768", "--keep-hours", "0", "--yes", "--work")
        status, said, _ = pgrecall_("embeddings", "migrate", *arguments)
        assert (status, "switched; maintenance deletes the old vectors" in said) == (0, True)
        status, said, _ = pgrecall_("embeddings", "status")
        assert "switched; maintenance deletes the old vectors" in said
        memory.admin.advance_embedding_migration()
        status, said, _ = pgrecall_("embeddings", "status")
        assert said.splitlines() == [
            f"embedding model {NEW}, 768 dimensions", f"{OLD} to {NEW} (768 dimensions): done"
        ]  # fmt: skip


def test_cancelled_change_says_that_new_vectors_are_deleted(fresh: str, pgrecall_: Run) -> None:
    arguments = ("--to", NEW, "--dimensions", "768", "--yes", "--no-wait")
    assert pgrecall_("embeddings", "migrate", *arguments)[0] == 0
    assert pgrecall_("embeddings", "cancel", "--yes")[0] == 0
    said = pgrecall_("embeddings", "status")[1]
    assert "cancelled; maintenance deletes the new vectors" in said


def test_client_with_embedder_of_the_former_model_gets_an_error(fresh: str) -> None:
    user = uuid.uuid4()
    with AgentMemory.connect(fresh, embedder=HashEmbedder(OLD)) as memory:
        memory.memories.remember(user, "User hums.")
        with psycopg.connect(fresh, autocommit=True) as conn:
            conn.execute("select recall.start_embedding_migration(%s, 384)", [NEW])
            conn.execute("select recall.switch_embedding_model(10)")
        with pytest.raises(InvalidEmbeddingError, match=NEW):
            memory.memories.search(user, "hums")


def test_user_with_own_model_is_searched_by_it(fresh: str) -> None:
    user = uuid.uuid4()
    with AgentMemory.connect(fresh) as memory:
        memory.memories.remember(user, "User hums.")
        memory.admin.configure_user(user, embedding_model=OWN)
        memory.memories.remember(user, "User sings.")
        (best, *_) = memory.memories.search(user, "User sings.")
        assert (best.content, round(best.similarity or 0, 3)) == ("User sings.", 1.0)
        assert memory._core._own_models == {user: OWN}
        memory.admin.configure_user(user, embedding_model=None)
        assert memory.memories.search(user, "User hums.")[0].similarity == pytest.approx(1, 0.01)
        assert memory._core._own_models == {}


def test_json_of_estimate_and_status(pgrecall_: Run) -> None:
    status, said, _ = pgrecall_("embeddings", "status", "--json")
    assert (status, json.loads(said)) == (0, [])
    status, said, _ = pgrecall_("embeddings", "migrate", "--to", NEW, "--estimate", "--json")
    assert (status, json.loads(said)[0]["texts"]) == (0, 0)


def test_an_unknown_model_is_a_usage_error(pgrecall_: Run) -> None:
    """Said before anything is asked or started."""
    status, _, said = pgrecall_("embeddings", "migrate", "--to", "nope")
    assert status == 2
    assert "unknown embedding model 'nope'" in said
    assert pgrecall_("embeddings", "migrate", "--to", "nope", "--estimate")[0] == 0
