"""The worker: verbatim extraction and embeddings, end to end."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import psycopg
import pytest

from pgrecall import AgentMemory, AsyncAgentMemory
from pgrecall._limits import Limits
from pgrecall._runtime import SyncStop
from pgrecall.errors import ConfigurationError, InvalidInputError
from pgrecall.models import EmbeddingError
from support import value, wait_for
from support.fakes import MODEL, WordEmbedder

EXTRACTION = "verbatim"

pytestmark = pytest.mark.usefixtures("empty_queue")

SAID = [
    "I live in Lyon and work as a data engineer",
    "I use Vim for everything I write",
    "My sister Marie visits me every spring",
]


def talk(memory: AgentMemory, user: uuid.UUID, said: Sequence[str] = SAID, **more: Any) -> None:
    chat = memory.session(user=user, model="gpt-4o-mini", **more)
    for text in said:
        chat.append(user=text, reply="I see.")


def states(db: psycopg.Connection) -> dict[str, int]:
    return dict(db.execute("select state::text, count(*) from recall.jobs group by 1").fetchall())


def test_messages_become_memories(
    memory: AgentMemory, user: uuid.UUID, db: psycopg.Connection
) -> None:
    talk(memory, user)
    report = memory.worker().run_until_idle()
    assert set(report.done) == {"extract", "embed"}
    assert (report.failed, report.lost, report.last_error) == ({}, 0, None)
    assert {m.content for m in memory.memories.list(user)} == set(SAID)
    hit = memory.search(user, "Which city do I live in?")[0]
    assert hit.content == SAID[0]
    assert hit.similarity is not None
    found = memory.sessions.search_messages(user, "sister")[0]
    assert (found.content, found.similarity is not None) == (SAID[2], True)
    assert states(db) == {}
    phases = db.execute(
        "select distinct kind, phase, model_id from recall.job_phases where user_id = %s", (user,)
    ).fetchall()
    assert ("extract", "embed", MODEL) in phases
    assert ("embed", "embed", MODEL) in phases


def test_repeated_message_is_remembered_once(memory: AgentMemory, user: uuid.UUID) -> None:
    talk(memory, user)
    memory.worker().run_until_idle()
    talk(memory, user)
    memory.worker().run_until_idle()
    assert len(memory.memories.list(user)) == len(SAID)


def test_worker_without_an_embedder_leaves_vectors_to_others(
    configured: str, user: uuid.UUID, db: psycopg.Connection
) -> None:
    """Memories are made; vectors are left to a worker that can."""
    with AgentMemory.connect(configured, embedder=False) as memory:
        talk(memory, user)
        assert set(memory.worker().run_until_idle().done) == {"extract"}
        assert len(memory.memories.list(user)) == len(SAID)
        assert memory.search(user, "Vim")[0].similarity is None
    assert states(db) == {"ready": 1}
    with AgentMemory.connect(configured, embedder=WordEmbedder()) as memory:
        assert set(memory.worker().run_until_idle().done) == {"embed"}
        assert memory.search(user, "Vim")[0].similarity is not None
    assert states(db) == {}


def test_worker_without_a_model_leaves_jobs_that_need_one(
    memory: AgentMemory, user: uuid.UUID, db: psycopg.Connection
) -> None:
    talk(memory, user, extraction="llm")
    assert set(memory.worker().run_until_idle().done) == {"embed"}
    assert db.execute("select kind, state::text, attempts from recall.jobs").fetchall() == [
        ("extract", "ready", 0)
    ]
    assert memory.memories.list(user) == []


def test_worker_runs_due_maintenance(
    memory: AgentMemory, user: uuid.UUID, db: psycopg.Connection, caplog: pytest.LogCaptureFixture
) -> None:
    added = memory.remember(user, "Ada uses Vim.")
    memory.memories.record_access(user, [added.memory_id], [0.5])
    db.execute("update recall.maintenance_tasks set last_run_at = null")
    memory.worker().run_until_idle()
    found = memory.memories.get(user, added.memory_id)
    assert found is not None
    assert found.access_count == 1
    late = "select count(*) from recall.maintenance_tasks where last_run_at is null"
    assert db.execute(late).fetchone() == (0,)
    assert caplog.text == ""


def test_failure_goes_back_to_the_queue(
    memory: AgentMemory, embedder: WordEmbedder, user: uuid.UUID, db: psycopg.Connection,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    def fail(texts: Sequence[str]) -> list[list[float]]:
        raise EmbeddingError("the model is on fire\x00")

    monkeypatch.setattr(embedder, "embed", fail)
    talk(memory, user)
    report = memory.worker().run_until_idle()
    assert report.jobs == 0
    assert report.failed == {"extract": 1, "embed": 1}
    assert report.last_error == "EmbeddingError: the model is on fire\ufffd"
    rows = db.execute(
        "select state::text, attempts, last_error, run_at > now() from recall.jobs"
    ).fetchall()
    assert rows == [("ready", 1, "EmbeddingError: the model is on fire\ufffd", True)] * 2

    monkeypatch.undo()
    db.execute("update recall.jobs set run_at = now()")
    assert memory.worker().run_until_idle().failed == {}
    assert len(memory.memories.list(user)) == len(SAID)


def test_job_refused_by_the_database_is_not_retried(
    memory: AgentMemory, embedder: WordEmbedder, user: uuid.UUID, db: psycopg.Connection,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.setattr(embedder, "embed", lambda texts: [[0.0] * 384 for _ in texts])
    talk(memory, user)
    report = memory.worker().run_until_idle()
    assert report.failed == {"extract": 1, "embed": 1}
    assert states(db) == {"dead": 2}


@pytest.mark.parametrize(
    ("vectors", "said"),
    [
        ([], "0 vectors of 3 texts"),
        ([[float("nan")] * 384] * 3, "EmbeddingError: .* made a vector that is not finite"),
    ],
)
def test_malformed_vectors_of_an_embedder_fail_the_job(
    memory: AgentMemory, embedder: WordEmbedder, user: uuid.UUID, monkeypatch: pytest.MonkeyPatch,
    vectors: list[list[float]], said: str,
) -> None:  # fmt: skip
    monkeypatch.setattr(embedder, "embed", lambda _: vectors)
    talk(memory, user)
    report = memory.worker(kinds=["extract"]).run_until_idle()
    assert (report.failed, memory.memories.list(user)) == ({"extract": 1}, [])
    assert re.fullmatch(said, report.last_error or "")


def test_no_transaction_is_open_while_embedding(
    memory: AgentMemory, embedder: WordEmbedder, user: uuid.UUID, db: psycopg.Connection,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    """No transaction is open and no connection taken while a model works."""
    seen: list[tuple[str, Any]] = []
    embed = embedder.embed

    def watched(texts: Sequence[str]) -> list[list[float]]:
        rows = db.execute(
            "select state, xact_start from pg_stat_activity"
            " where application_name = 'pgrecall' and datname = current_database()"
        ).fetchall()
        seen.extend(rows)
        return embed(texts)

    monkeypatch.setattr(embedder, "embed", watched)
    talk(memory, user)
    memory.worker().run_until_idle()
    assert seen
    assert set(seen) == {("idle", None)}


def test_lease_is_extended_during_a_long_step(
    memory: AgentMemory, embedder: WordEmbedder, user: uuid.UUID, db: psycopg.Connection,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    """A step that takes longer than the lease keeps it."""
    from datetime import timedelta

    embed = embedder.embed

    def slow(texts: Sequence[str]) -> list[list[float]]:
        time.sleep(1.2)
        return embed(texts)

    monkeypatch.setattr(embedder, "embed", slow)
    talk(memory, user)
    report = memory.worker(lease=timedelta(seconds=0.6)).run_until_idle()
    assert (report.failed, report.lost) == ({}, 0)
    assert len(memory.memories.list(user)) == len(SAID)


def test_a_result_that_comes_too_late_changes_nothing(
    memory: AgentMemory, embedder: WordEmbedder, user: uuid.UUID, db: psycopg.Connection,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    embed = embedder.embed

    def robbed(texts: Sequence[str]) -> list[list[float]]:
        db.execute(
            "update recall.jobs set lease_token = gen_random_uuid(), worker = 'another'"
            " where state = 'running'"
        )
        return embed(texts)

    monkeypatch.setattr(embedder, "embed", robbed)
    talk(memory, user)
    report = memory.worker().run_until_idle()
    assert (report.jobs, report.failed, report.lost) == (0, {}, 2)
    assert memory.memories.list(user) == []
    assert states(db) == {"running": 2}


@pytest.mark.concurrent
def test_many_workers_do_each_job_once(configured: str, db: psycopg.Connection) -> None:
    """Each job's effect happens once, whoever does it."""
    users = [uuid.uuid4() for _ in range(12)]
    with AgentMemory.connect(configured, embedder=WordEmbedder()) as memory:
        for user in users:
            talk(memory, user)
        workers = [memory.worker(name=f"w{number}") for number in range(4)]
        threads = [threading.Thread(target=worker.run_until_idle) for worker in workers]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        memory.worker().run_until_idle()
        for user in users:
            assert {m.content for m in memory.memories.list(user)} == set(SAID)
        assert sum(worker.report.done.get("extract", 0) for worker in workers) >= len(users)
        assert all(not worker.report.failed for worker in workers)
    assert states(db) == {}


class Crowd:
    """An embedder whose calls wait for each other: it notes how many are under way at once."""

    def __init__(self, expected: int) -> None:
        self.barrier = threading.Barrier(expected)
        self.embed_words = WordEmbedder().embed
        self.started = 0

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        self.started += 1
        if not self.barrier.broken:
            self.barrier.wait(10)  # breaks, and fails the job, when fewer come
        return self.embed_words(texts)


def test_worker_does_several_jobs_at_once(
    memory: AgentMemory, embedder: WordEmbedder, db: psycopg.Connection,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    crowd = Crowd(3)
    monkeypatch.setattr(embedder, "embed", crowd.embed)
    users = [uuid.uuid4() for _ in range(3)]
    for user in users:
        talk(memory, user)
    seen: list[int] = []
    report = memory.worker(concurrency=3).run_until_idle(
        progress=lambda report: seen.append(report.jobs)
    )
    assert (report.failed, report.lost) == ({}, 0), report.last_error
    assert report.done["extract"] == 3
    assert seen == [*range(1, report.jobs + 1)]
    for user in users:
        assert {m.content for m in memory.memories.list(user)} == set(SAID)
    assert states(db) == {}


def test_asynchronous_worker_does_several_jobs_at_once(
    configured: str, db: psycopg.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    crowd, users = Crowd(3), [uuid.uuid4() for _ in range(3)]
    embedder = WordEmbedder()

    async def run() -> None:
        async with AsyncAgentMemory.connect(configured, embedder=embedder) as memory:
            for user in users:
                chat = memory.session(user=user, model="gpt-4o-mini")
                for text in SAID:
                    await chat.append(user=text)
            monkeypatch.setattr(embedder, "embed", crowd.embed)
            report = await memory.worker(concurrency=3).run_until_idle()
            assert (report.failed, report.lost) == ({}, 0), report.last_error
            assert report.done["extract"] == 3

    asyncio.run(run())
    assert states(db) == {}


def test_idle_means_that_nothing_runs(
    memory: AgentMemory, embedder: WordEmbedder, user: uuid.UUID, db: psycopg.Connection,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    """A job that runs may leave another, which is not left behind."""
    embed = embedder.embed

    def slow(texts: Sequence[str]) -> list[list[float]]:
        time.sleep(0.3)
        return embed(texts)

    talk(memory, user)
    db.execute("delete from recall.jobs where kind = 'embed'")
    db.execute("update recall.settings set embed_batch = 1")
    try:
        memory.admin.enqueue_job(user, "embed", session_id=memory.sessions.list(user)[0].session_id)
        monkeypatch.setattr(embedder, "embed", slow)
        report = memory.worker(concurrency=2, kinds=["embed"]).run_until_idle()
    finally:
        db.execute("update recall.settings set embed_batch = default")
    assert report.done["embed"] > 1
    assert states(db) == {"ready": 1}  # the extraction, which it was not to take


def test_worker_does_only_the_kinds_given(
    memory: AgentMemory, user: uuid.UUID, db: psycopg.Connection
) -> None:
    talk(memory, user)
    assert memory.worker(kinds=["embed"]).run_until_idle().done.keys() == {"embed"}
    assert memory.worker(kinds="extract").run_until_idle().done.keys() == {"extract"}
    for kinds in (["extract:llm"], ["compact"], ["embed", "nonsense"]):
        with pytest.raises(ConfigurationError, match=f"jobs of kind {kinds[-1]}"):
            memory.worker(kinds=kinds).run_until_idle()


def test_concurrency_is_checked(configured: str, memory: AgentMemory) -> None:
    with pytest.raises(InvalidInputError, match="concurrency is 0"):
        memory.worker(concurrency=0)
    with (
        psycopg.connect(configured) as connection,
        AgentMemory.connect(connection, embedder=False) as other,
    ):
        assert other.worker().concurrency == 1
        with pytest.raises(InvalidInputError, match="one connection"):
            other.worker(concurrency=2)


def test_jobs_at_hand_are_finished_before_it_stops(
    memory: AgentMemory, embedder: WordEmbedder, db: psycopg.Connection,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    crowd = Crowd(3)  # two jobs, and this test
    monkeypatch.setattr(embedder, "embed", crowd.embed)
    users = [uuid.uuid4() for _ in range(4)]
    for user in users:
        talk(memory, user)
    worker = memory.worker(concurrency=2, kinds=["extract"], poll_seconds=0.05)
    thread = threading.Thread(target=worker.run, kwargs={"handle_signals": False})
    thread.start()
    wait_for(lambda: crowd.started == 2)
    worker.stop()
    crowd.barrier.wait(10)
    thread.join(20)
    assert not thread.is_alive()
    assert worker.report.done == {"extract": 2}
    assert crowd.started == 2
    assert sum(bool(memory.memories.list(user)) for user in users) == 2
    assert value(db, "select count(*) from recall.jobs where state = 'running'") == 0


@pytest.mark.slow
def test_worker_leaves_the_job_of_a_locked_user_to_its_lease(
    configured: str, user: uuid.UUID, db: psycopg.Connection,
    connect: Callable[..., psycopg.Connection],
) -> None:  # fmt: skip
    """Neither the result nor the failure can be written: the job is left to its lease."""
    other = uuid.uuid4()
    limits = Limits(statement_timeout=0.5)
    with AgentMemory.connect(configured, embedder=False, limits=limits) as memory:
        talk(memory, user)
        talk(memory, other)
        holder = connect(autocommit=False)
        holder.execute("select from recall.users where user_id = %s for update", [user])
        report = memory.worker(kinds=["extract"]).run_until_idle()
        holder.rollback()
        assert (report.done, report.failed) == ({"extract": 1}, {"extract": 1})
        assert report.last_error is not None
        assert report.last_error.startswith("CallTimeoutError")
        assert (memory.memories.list(user), len(memory.memories.list(other))) == ([], len(SAID))
        assert value(db, "select count(*) from recall.jobs where state = 'running'") == 1
        db.execute("select recall.release_expired_leases(p_as_of => now() + interval '1 hour')")
        db.execute("update recall.jobs set run_at = now()")
        memory.worker(kinds=["extract"]).run_until_idle()
        assert {m.content for m in memory.memories.list(user)} == set(SAID)


def test_failure_with_unstorable_characters_hands_the_job_back(
    memory: AgentMemory, embedder: WordEmbedder, user: uuid.UUID, db: psycopg.Connection,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    """An endpoint's error may contain any character; the worker still hands the job back."""

    def fail(texts: Sequence[str]) -> list[list[float]]:
        raise EmbeddingError(f"no vectors of {len(texts)} texts: \x00\ud800!")

    monkeypatch.setattr(embedder, "embed", fail)
    talk(memory, user)
    report = memory.worker(kinds=["extract"]).run_until_idle()
    assert report.failed == {"extract": 1}
    error = "EmbeddingError: no vectors of 3 texts: \ufffd\ufffd!"
    jobs = db.execute("select last_error from recall.jobs where kind = 'extract'").fetchall()
    assert jobs == [(error,)]
    spans = db.execute(
        "select phase, items, error from recall.job_phases where user_id = %s", (user,)
    ).fetchall()
    assert spans == [("embed", 3, error)]


def test_running_worker_does_new_jobs(memory: AgentMemory, user: uuid.UUID) -> None:
    with running(memory):
        talk(memory, user)
        wait_for(lambda: len(memory.memories.list(user)) == len(SAID))


def test_lost_server_is_waited_for(
    memory: AgentMemory, user: uuid.UUID, db: psycopg.Connection
) -> None:
    with running(memory):
        for _ in range(3):
            time.sleep(0.2)
            db.execute(
                "select pg_terminate_backend(pid, 5000) from pg_stat_activity"
                " where application_name = 'pgrecall' and datname = current_database()"
            )
        talk(memory, user)
        wait_for(lambda: len(memory.memories.list(user)) == len(SAID))


@contextmanager
def running(memory: AgentMemory) -> Iterator[None]:
    """A worker in a thread, which is stopped whatever happens."""
    worker = memory.worker(poll_seconds=0.05)
    thread = threading.Thread(target=worker.run, kwargs={"handle_signals": False})
    thread.start()
    try:
        yield
    finally:
        worker.stop()
        thread.join(10)
    assert not thread.is_alive()


def test_asynchronous_worker_does_new_jobs(configured: str, user: uuid.UUID) -> None:
    async def run() -> None:
        async with AsyncAgentMemory.connect(configured, embedder=WordEmbedder()) as memory:
            worker = memory.worker(poll_seconds=0.05)
            task = asyncio.create_task(worker.run())
            chat = memory.session(user=user, model="gpt-4o-mini")
            for text in SAID:
                await chat.append(user=text)
            for _ in range(200):
                if len(await memory.memories.list(user)) == len(SAID):
                    break
                await asyncio.sleep(0.05)
            worker.stop()
            report = await asyncio.wait_for(task, 10)
            assert set(report.done) == {"extract", "embed"}

    asyncio.run(run())


def test_signal_between_two_restored_handlers_asks_to_stop(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    stop = SyncStop()
    before = signal.getsignal(signal.SIGTERM)
    restore = signal.signal

    def restore_and_raise(number: int, handler: Any) -> Any:
        found = restore(number, handler)
        if number == signal.SIGINT:
            signal.raise_signal(signal.SIGTERM)
        return found

    with stop.on_signals():
        monkeypatch.setattr(signal, "signal", restore_and_raise)
    assert stop.is_set()
    assert signal.getsignal(signal.SIGTERM) == before


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_worker_command_stops_on_a_signal(
    memory: AgentMemory, configured: str, number: int, user: uuid.UUID
) -> None:
    with subprocess.Popen(
        [sys.executable, "-m", "pgrecall", "worker", "--dsn", configured, "--no-embedding",
         "--poll", "0.1", "--json", "--concurrency", "2", "--kinds", "extract"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    ) as process:  # fmt: skip
        try:
            assert process.stderr is not None
            assert "2 jobs; SIGTERM or Ctrl-C stops it" in process.stderr.readline()
            talk(memory, user)
            wait_for(lambda: len(memory.memories.list(user)) == len(SAID))
            process.send_signal(number)
            out, err = process.communicate(timeout=20)
        finally:
            process.kill()
        assert process.returncode == 0, err
        assert set(json.loads(out)["done"]) == {"extract"}


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_stops_in_order_from_its_start_note_on(configured: str, number: int) -> None:
    with subprocess.Popen(
        [sys.executable, "-m", "pgrecall", "worker", "--dsn", configured, "--no-embedding",
         "--json", "--kinds", "extract"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    ) as process:  # fmt: skip
        try:
            assert process.stderr is not None
            assert "SIGTERM or Ctrl-C stops it" in process.stderr.readline()
            process.send_signal(number)
            out, err = process.communicate(timeout=20)
        finally:
            process.kill()
        assert process.returncode == 0, err
        assert json.loads(out)["jobs"] == 0
