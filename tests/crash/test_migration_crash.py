"""Workers and the server are killed while the embedding model changes: nothing is lost."""

from __future__ import annotations

import os
import subprocess
import sys
import time
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

from pgrecall import schema
from pgrecall.embedded import EmbeddedServer
from support import call, configure, rows, value
from support.embeddings import as_literal, hashed
from support.fakes import MODEL
from support.invariants import check_invariants
from support.servers import DIMENSIONS, TestServer, kill_all

pytestmark = pytest.mark.slow

Connection = psycopg.Connection[Any]

NEW, WIDE = "wide", 512
USERS, MEMORIES, BATCH = 3, 120, 8
KILLS = 6

WORKER = f"""
import sys, time
from datetime import timedelta
from pgrecall import AgentMemory
from support.embeddings import hashed

class Slow:
    model, dimensions = {NEW!r}, {WIDE}

    def embed(self, texts):
        time.sleep(0.05)
        return [hashed(text, {WIDE}) for text in texts]

with AgentMemory.connect(sys.argv[1], embedder=False) as memory:
    memory.worker(embedders=[Slow()], lease=timedelta(seconds=1), poll_seconds=0.05).run()
"""


def vector(text: str, model: str) -> str:
    return as_literal(hashed(text, WIDE if model == NEW else DIMENSIONS))


def current(conn: Connection) -> str:
    return str(value(conn, "select embedding_model from recall.settings"))


def fill(conn: Connection) -> dict[uuid.UUID, list[str]]:
    """Give users memories with vectors, and indexed messages; return their memories."""
    texts: dict[uuid.UUID, list[str]] = {}
    for number in range(USERS):
        user = uuid.uuid4()
        texts[user] = [f"User{number} owns item{number}x{item}." for item in range(MEMORIES)]
        for text in texts[user]:
            remember(conn, user, text)
    call(conn, "configure", p_changes={"embed_batch": BATCH})
    return texts


def remember(conn: Connection, user: uuid.UUID, text: str) -> None:
    model = current(conn)
    with conn.transaction():
        conn.execute("select set_config('recall.embedding_model', %s, true)", [model])
        call(conn, "remember", p_user_id=user, p_content=text, p_embedding=vector(text, model))


def check_searches(conn: Connection, texts: dict[uuid.UUID, list[str]]) -> None:
    """Assert that the vector of a memory's text finds it first, by the current model."""
    model = current(conn)
    for user, owned in texts.items():
        for text in owned[:: MEMORIES // 4]:
            found = call(conn, "search", p_user_id=user, p_query_embedding=vector(text, model),
                         p_limit=3)  # fmt: skip
            assert found[0]["content"] == text
            assert found[0]["similarity"] > 0.99


def made(conn: Connection) -> int:
    return int(value(conn, "select count(*) from recall.memory_embedding"
                           " where embedding_model = %s", [NEW]))  # fmt: skip


def state(conn: Connection) -> str:
    call(conn, "release_expired_leases")
    call(conn, "migrate_embeddings")
    (change,) = call(conn, "get_embedding_migration")
    return str(change["state"])


def check_end(conn: Connection, texts: dict[uuid.UUID, list[str]]) -> None:
    """Assert that each memory has its vector of the new model, and none of the old one."""
    assert current(conn) == NEW
    for user, owned in texts.items():
        stored = rows(conn, "select m.content, e.embedding::text as vector"
                            "  from recall.memory_store as m"
                            "  join recall.memory_embedding as e using (user_id, memory_id)"
                            " where user_id = %s and embedding_model = %s",
                      [user, NEW])  # fmt: skip
        assert sorted(row["content"] for row in stored) == sorted(owned)
        for row in stored[::20]:
            off = value(conn, "select %s::halfvec <=> %s::halfvec",
                        [row["vector"], vector(row["content"], NEW)])  # fmt: skip
            assert off < 0.001
    assert value(conn, "select count(*) from recall.memory_embedding where embedding_model <> %s",
                 [NEW]) == 0  # fmt: skip
    check_searches(conn, texts)
    assert value(conn, "select count(*) from recall.jobs where state = 'dead'") == 0
    check_invariants(conn)


def worker_process(dsn: str) -> subprocess.Popen[str]:
    tests = Path(__file__).resolve().parents[1]
    return subprocess.Popen(
        [sys.executable, "-c", WORKER, dsn], text=True, stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(tests)},
    )  # fmt: skip


def wait_for_more(conn: Connection, workers: list[subprocess.Popen[str]], more: int) -> str:
    """Wait until so many further vectors are made, or the model is switched; return the state."""
    before, until = made(conn), time.monotonic() + 60
    while (now := state(conn)) == "running" and made(conn) < before + more:
        assert time.monotonic() < until, [worker.poll() for worker in workers]
        time.sleep(0.02)
    return now


@pytest.fixture
def own_dsn(server: TestServer) -> Iterator[str]:
    """A database of its own: a change concerns all users of a database."""
    name = server.cloned_database("migration_crash")
    configure(server.dsn(name), embedding_model=MODEL, extraction="none")
    yield server.dsn(name)
    server.drop_database(name)


def test_change_survives_workers_that_are_killed(own_dsn: str) -> None:
    with psycopg.connect(own_dsn, autocommit=True) as conn:
        texts = fill(conn)
        call(conn, "start_embedding_migration", p_model=NEW, p_dimensions=WIDE, p_keep="0")
        workers = [worker_process(own_dsn) for _ in range(2)]
        try:
            for number in range(KILLS):
                now = wait_for_more(conn, workers, 3 * BATCH)
                assert now == "running", f"killed too late: {made(conn)} vectors"
                victim = workers.pop(0)
                assert victim.poll() is None
                victim.kill()
                victim.wait()
                check_searches(conn, texts)
                assert current(conn) == MODEL
                late = f"A late fact about item9x{number}."
                user = [*texts][number % USERS]
                remember(conn, user, late)
                texts[user].append(late)
                workers.append(worker_process(own_dsn))
            while wait_for_more(conn, workers, 10_000) == "running":
                pass
        finally:
            for worker in workers:
                worker.kill()
                worker.wait()
        while state(conn) != "done":
            pass
        check_end(conn, texts)


@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="finds processes in /proc")
@pytest.mark.timeout(300)
def test_change_survives_a_server_that_is_killed(home: Path) -> None:
    """Kill the server while vectors are made, right after the switch, and while old ones go."""
    texts: dict[uuid.UUID, list[str]] = {}
    stored, reached = 0, ""
    for number in range(KILLS):
        with EmbeddedServer(home, settings={"max_connections": "30"}) as server:
            with psycopg.connect(server.dsn, autocommit=True) as conn:
                assert value(conn, "show fsync") == "on"
                if not texts:
                    schema.install(conn, embedding_dimensions=DIMENSIONS, hash_partitions=2)
                    configure(server.dsn, embedding_model=MODEL, extraction="none")
                    texts = fill(conn)
                    call(conn, "start_embedding_migration", p_model=NEW, p_dimensions=WIDE)
                assert made(conn) >= stored
                check_searches(conn, texts)
                if reached == "switched":
                    assert current(conn) == NEW
                    conn.execute("update recall.embedding_migrations set keep_old = '0'")
                    call(conn, "migrate_embeddings", p_limit=1)
                    reached = "purging"
                else:
                    worker = worker_process(server.dsn)
                    reached = wait_for_more(conn, [worker], 10_000 if number >= 3 else 4 * BATCH)
                    worker.kill()
                    worker.wait()
                late = f"A late fact about item9x{number}."
                user = [*texts][number % USERS]
                remember(conn, user, late)
                texts[user].append(late)
                stored = made(conn)
            kill_all(home)
            while server.is_running:
                time.sleep(0.01)
        if reached == "purging":
            break
    assert reached == "purging"
    with (
        EmbeddedServer(home, settings={"max_connections": "30"}) as server,
        psycopg.connect(server.dsn, autocommit=True) as conn,
    ):
        left = value(conn, "select count(*) from recall.memory_embedding"
                           " where embedding_model = %s", [MODEL])  # fmt: skip
        assert 0 < left < sum(map(len, texts.values()))
        while state(conn) != "done":
            pass
        check_end(conn, texts)
