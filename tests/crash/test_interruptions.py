"""Calls that the server, a timeout or a dead network ends: own errors, nothing hangs or is lost."""

from __future__ import annotations

import asyncio
import json
import os
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
import pytest
from psycopg.conninfo import make_conninfo
from psycopg_pool import ConnectionPool

from pgrecall import (
    AgentMemory,
    AsyncAgentMemory,
    CallTimeoutError,
    ConnectionLostError,
    InterruptedCallError,
    Limits,
)
from support import value
from support.fakes import MODEL, WordEmbedder
from support.poolers import Proxy, proxy

pytestmark = pytest.mark.slow

SOON = Limits(statement_timeout=0.3, connect_timeout=0.3, answer_timeout=0.4)
SOON_SECONDS = 1.0


@pytest.fixture
def silent(dsn: str) -> Iterator[Proxy]:
    with proxy(dsn) as running:
        yield running


@contextmanager
def ended_in_time() -> Iterator[None]:
    """Expect our own error within the deadline of `SOON`, and a second for a busy machine."""
    began = time.monotonic()
    with pytest.raises(CallTimeoutError) as caught:
        yield
    assert caught.value.sqlstate is None
    assert time.monotonic() - began < SOON_SECONDS + 1


def test_call_ends_when_the_server_never_answers(silent: Proxy, user: uuid.UUID) -> None:
    with AgentMemory.connect(silent.dsn, embedder=False, limits=SOON) as memory:
        assert memory.sessions.list(user) == []
        silent.fall_silent()
        with ended_in_time():
            memory.sessions.list(user)


def test_asynchronous_call_ends_when_the_server_never_answers(
    silent: Proxy, user: uuid.UUID
) -> None:
    async def use() -> None:
        memory = AsyncAgentMemory.connect(silent.dsn, embedder=False, limits=SOON)
        assert await memory.sessions.list(user) == []
        silent.fall_silent()
        with ended_in_time():
            await memory.sessions.list(user)
        await memory.aclose()

    asyncio.run(use())


def test_call_over_a_connection_of_the_caller_ends_when_the_server_never_answers(
    silent: Proxy, user: uuid.UUID
) -> None:
    with psycopg.connect(silent.dsn) as conn:
        memory = AgentMemory.connect(conn, embedder=False, limits=SOON)
        memory.sessions.list(user)
        silent.fall_silent()
        with ended_in_time():
            memory.sessions.list(user)
        assert conn.closed


def test_call_ends_when_all_connections_are_in_use(dsn: str, user: uuid.UUID) -> None:
    with ConnectionPool(dsn, min_size=1, max_size=1, open=True, timeout=60) as pool:
        memory = AgentMemory.connect(pool, embedder=False, limits=SOON)
        with pool.connection(), ended_in_time():
            memory.sessions.list(user)
        assert memory.sessions.list(user) == []


def test_other_connections_are_used_on_after_a_deadline(silent: Proxy, user: uuid.UUID) -> None:
    """Only the connection of the late call is closed."""
    limits = Limits(statement_timeout=0, max_connections=1)
    with AgentMemory.connect(silent.dsn, embedder=False, limits=limits) as patient:
        assert patient.sessions.list(user) == []
        with AgentMemory.connect(silent.dsn, embedder=False, limits=SOON) as memory:
            with pytest.raises(CallTimeoutError):
                memory._core.write.query(b"select pg_sleep(5)")
            assert memory.sessions.list(user) == []
        assert patient.sessions.list(user) == []


def test_fork_leaves_the_connections_of_the_parent_alone(dsn: str, user: uuid.UUID) -> None:
    """A deadline of a call that runs during the fork does not pass in the child, its own do."""
    limits = Limits(
        statement_timeout=0.5, connect_timeout=0.3, answer_timeout=0.2, max_connections=1
    )
    with AgentMemory.connect(dsn, embedder=False, limits=limits) as memory:
        ((before,),) = memory._core.write.query(b"select pg_backend_pid()")
        thread = threading.Thread(
            target=memory._core.write.query, args=(b"select pg_sleep(0.4)",), daemon=True
        )
        thread.start()
        time.sleep(0.2)
        child = os.fork()
        if child == 0:
            status = 1
            try:
                with psycopg.connect(dsn) as conn:
                    joined = AgentMemory.connect(conn, embedder=False, limits=limits)
                    joined._core.write.query(b"select 1")
                    time.sleep(1.2)
                names = {one.name for one in threading.enumerate()}
                status = 0 if "pgrecall-deadlines" in names else 2
            finally:
                os._exit(status)
        thread.join()
        assert os.waitpid(child, 0)[1] == 0
        assert memory._core.write.query(b"select pg_backend_pid()") == [(before,)]


def test_unreachable_server_is_an_error_of_ours(dsn: str) -> None:
    with proxy(dsn) as gone:
        pass
    with pytest.raises(ConnectionLostError):
        AgentMemory.connect(gone.dsn, embedder=False).admin.version()


# The worker


@pytest.fixture
def worked(dsn: str) -> Iterator[str]:
    """The DSN of a database where a worker without a model extracts."""
    with psycopg.connect(dsn, autocommit=True) as conn:
        conn.execute(
            "select recall.configure(%s)",
            (json.dumps({"embedding_model": MODEL, "extraction": "verbatim"}),),
        )
        yield dsn
        conn.execute("delete from recall.jobs")


def talk(memory: AgentMemory, user: uuid.UUID) -> None:
    memory.session(user=user, model="gpt-4o-mini").append(
        user="I live in Lyon and work as a data engineer", reply="I see."
    )


CALLS = ["claim_jobs", "next_request", "_complete_job", "run_due_maintenance"]


@contextmanager
def slow(db: psycopg.Connection, function: str, times: int) -> Iterator[None]:
    """Let a function of ours wait in its first calls, before it has done anything."""
    db.execute("create sequence if not exists public.slowed")
    db.execute("alter sequence public.slowed restart")
    source = value(
        db,
        "select pg_get_functiondef(oid) from pg_proc"
        " where pronamespace = 'recall'::regnamespace and proname = %s",
        [function],
    )
    head, begin, body = source.partition("\nbegin\n")
    wait = (
        f"    if nextval('public.slowed') <= {times} then\n"
        "        perform pg_sleep(60);\n    end if;\n"
    )
    slowed = head.replace("STABLE", "VOLATILE") + begin + wait + body
    db.execute("grant usage on sequence public.slowed to public")
    try:
        db.execute(slowed.encode())
        yield
    finally:
        db.execute(source.encode())


def interrupt(db: psycopg.Connection, how: str) -> int:
    return db.execute(
        f"select {how}(pid) from pg_stat_activity where application_name = 'pgrecall'"
        " and datname = current_database() and wait_event = 'PgSleep'".encode()
    ).rowcount


@contextmanager
def interrupting(db: psycopg.Connection, how: str) -> Iterator[list[int]]:
    """Interrupt every call of the driver that sleeps, and count them."""
    ended = threading.Event()
    counts = [0]

    def run() -> None:
        while not ended.wait(0.02):
            counts[0] += interrupt(db, how)

    thread = threading.Thread(target=run)
    thread.start()
    try:
        yield counts
    finally:
        ended.set()
        thread.join()


@pytest.mark.parametrize("function", CALLS)
@pytest.mark.parametrize("how", ["pg_terminate_backend", "pg_cancel_backend"])
def test_interrupted_call_of_a_worker_is_sent_again(
    worked: str, user: uuid.UUID, db: psycopg.Connection, function: str, how: str
) -> None:
    with AgentMemory.connect(worked, embedder=WordEmbedder()) as memory:
        talk(memory, user)
        db.execute("update recall.maintenance_tasks set last_run_at = null")
        with slow(db, function, 1), interrupting(db, how) as counts:
            report = memory.worker().run_until_idle()
        assert counts[0] == 1
        assert (report.done.get("extract"), report.failed) == (1, {}), report.last_error
        assert len(memory.memories.list(user)) == 1
    assert db.execute("select count(*) from recall.jobs").fetchone() == (0,)


@pytest.mark.parametrize("function", CALLS)
@pytest.mark.parametrize("setting", ["statement_timeout", "transaction_timeout"])
def test_worker_outlasts_the_timeouts_of_the_server(
    worked: str,
    user: uuid.UUID,
    db: psycopg.Connection,
    function: str,
    setting: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A call that a timeout has ended is sent again: no job is lost, none is done twice."""
    monkeypatch.setattr("pgrecall._sync.worker._MAINTENANCE_TIMEOUT", 0.4)
    limits = Limits(statement_timeout=0.4 if setting == "statement_timeout" else 30)
    dsn = worked
    if setting == "transaction_timeout":
        dsn = make_conninfo(worked, options="-c transaction_timeout=400ms")
    with AgentMemory.connect(worked, embedder=WordEmbedder()) as memory:
        talk(memory, user)
        if function == "run_due_maintenance":
            db.execute("update recall.maintenance_tasks set last_run_at = null")
        else:
            memory.worker().maintain()
        with (
            AgentMemory.connect(dsn, embedder=WordEmbedder(), limits=limits) as bounded,
            slow(db, function, 1),
        ):
            report = bounded.worker().run_until_idle()
        assert (report.done.get("extract"), report.failed) == (1, {}), report.last_error
        assert len(memory.memories.list(user)) == 1


@pytest.mark.parametrize("how", ["pg_terminate_backend", "pg_cancel_backend"])
def test_worker_that_is_interrupted_for_ever_raises_an_error_of_ours(
    worked: str, user: uuid.UUID, db: psycopg.Connection, how: str
) -> None:
    wanted = ConnectionLostError if how == "pg_terminate_backend" else CallTimeoutError
    with AgentMemory.connect(worked, embedder=WordEmbedder()) as memory:
        talk(memory, user)
        memory.worker().maintain()
        with (
            slow(db, "claim_jobs", 1000),
            interrupting(db, how) as counts,
            pytest.raises(wanted) as caught,
        ):
            memory.worker().run_until_idle()
        assert counts[0] == 3
        assert isinstance(caught.value, InterruptedCallError)
        assert isinstance(caught.value, psycopg.OperationalError)
        report = memory.worker().run_until_idle()
        assert report.done.get("extract") == 1


def test_running_worker_waits_while_the_server_ends_its_calls(
    worked: str, user: uuid.UUID, db: psycopg.Connection
) -> None:
    """`run` goes on after errors that `run_until_idle` raises."""
    dsn = make_conninfo(worked, options="-c transaction_timeout=300ms")
    with AgentMemory.connect(dsn, embedder=WordEmbedder()) as memory:
        talk(memory, user)
        worker = memory.worker(poll_seconds=0.05)
        with slow(db, "claim_jobs", 4):
            thread = threading.Thread(target=lambda: worker.run(handle_signals=False))
            thread.start()
            for _ in range(600):
                if worker.report.done.get("extract"):
                    break
                time.sleep(0.05)
            worker.stop()
            thread.join(30)
        assert worker.report.done.get("extract") == 1


# Event loops


@pytest.fixture
def elsewhere() -> Iterator[Callable[..., Any]]:
    """Run a coroutine in an event loop of its own thread."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    yield lambda work: asyncio.run_coroutine_threadsafe(work, loop).result(30)
    loop.call_soon_threadsafe(loop.stop)
    thread.join()
    loop.close()


def test_use_from_a_second_event_loop_raises_at_once(
    dsn: str, user: uuid.UUID, elsewhere: Callable[..., Any]
) -> None:
    memory = AsyncAgentMemory.connect(dsn, embedder=False)
    chat = memory.session(user=user, model="gpt-4o-mini")

    async def use() -> list[Any]:
        await chat.append(user="hello")
        return await memory.sessions.list(user)

    assert len(elsewhere(use())) == 1
    for work in (use, lambda: memory.search(user, "hello"), memory.aclose):
        with pytest.raises(RuntimeError, match="in use in another event loop"):
            asyncio.run(asyncio.wait_for(work(), 5))  # type: ignore[arg-type]
    assert len(elsewhere(use())) == 1
    elsewhere(memory.aclose())
    # closed there, it may be used here

    async def again() -> None:
        assert len(await use()) == 1
        await memory.aclose()

    asyncio.run(again())


def test_use_while_its_event_loop_rests_raises_at_once(dsn: str, user: uuid.UUID) -> None:
    memory = AsyncAgentMemory.connect(dsn, embedder=False)
    # asyncio.run would cancel the pool's tasks, one of which may swallow that in Python 3.11
    loop = asyncio.new_event_loop()
    loop.run_until_complete(_sessions(memory, user))
    with pytest.raises(RuntimeError, match="in use in another event loop"):
        asyncio.run(asyncio.wait_for(_sessions(memory, user), 5))
    loop.run_until_complete(memory.aclose())
    loop.close()


async def _sessions(memory: AsyncAgentMemory, user: uuid.UUID) -> list[Any]:
    return list(await memory.sessions.list(user))


def test_session_that_another_event_loop_works_on_raises_at_once(
    dsn: str, user: uuid.UUID, elsewhere: Callable[..., Any]
) -> None:
    """Also where nothing is sent yet: the session's lock is held in the other loop."""
    memory = AsyncAgentMemory.connect(dsn, embedder=False)
    chat = memory.session(user=user, model="gpt-4o-mini")
    elsewhere(chat._conversation._lock.acquire())
    with pytest.raises(RuntimeError, match="in use in another event loop"):
        asyncio.run(asyncio.wait_for(chat.open(), 5))
