"""Reads on a standby: not of what it lacks, not when it lags, and not when it is away."""

from __future__ import annotations

import os
import signal
import threading
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg import conninfo, sql

from pgrecall import AgentMemory, ChatSession, Limits, schema
from pgrecall._writes import Writes
from pgrecall.errors import InterruptedCallError
from support import together, value, wait_for
from support.servers import DIMENSIONS, Standby, TestServer, running_server, streaming_standby

pytestmark = pytest.mark.slow

Connection = psycopg.Connection[Any]


@pytest.fixture(scope="module")
def standby(server: TestServer, dsn: str) -> Iterator[Standby]:
    del dsn  # the database exists before its copy
    with streaming_standby(server) as made:
        yield made


@pytest.fixture
def writer(dsn: str) -> Iterator[AgentMemory]:
    """Another client, which writes and reads on the primary."""
    with AgentMemory.connect(dsn, embedder=False) as memory:
        yield memory


@contextmanager
def reader(dsn: str, standby: Standby, max_lag: float, **more: Any) -> Iterator[AgentMemory]:
    """Yield a client that reads on the standby."""
    there = standby.dsn(str(conninfo.conninfo_to_dict(dsn)["dbname"]))
    with AgentMemory.connect(
        dsn, history_dsn=there, memory_dsn=there, embedder=False,
        limits=Limits(max_lag=max_lag, **more),
    ) as memory:  # fmt: skip
        yield memory


@contextmanager
def held(standby: Standby) -> Iterator[None]:
    """Let the standby receive, and not replay."""
    standby.catch_up()
    with psycopg.connect(standby.dsn("postgres"), autocommit=True) as conn:
        conn.execute("select pg_wal_replay_pause()")
        try:
            state = "select pg_get_wal_replay_pause_state()"
            wait_for(lambda: value(conn, state) == "paused")
            yield
        finally:
            conn.execute("select pg_wal_replay_resume()")


def said(memory: AgentMemory, user: uuid.UUID, chat: ChatSession) -> list[str | None]:
    """Return the texts of the newest turns, in their order."""
    return [one.content for one in memory.sessions.messages(user, chat.session_id)][::-1]


def test_reads_see_own_writes_while_the_standby_is_behind(
    dsn: str, standby: Standby, writer: AgentMemory
) -> None:
    mine, others = uuid.uuid4(), uuid.uuid4()
    chats = {user: writer.session(user=user, model="m") for user in (mine, others)}
    for chat in chats.values():
        chat.append(user="one")
    standby.catch_up()
    with reader(dsn, standby, max_lag=600) as memory:
        assert said(memory, mine, chats[mine]) == ["one"]
        with held(standby):
            writer.session(user=others, session_id=chats[others].session_id).append(user="two")
            own = memory.session(user=mine, session_id=chats[mine].session_id)
            own.append(user="two")
            for _ in range(3):
                assert said(memory, others, chats[others]) == ["one"], "the standby's answer"
                assert said(memory, mine, chats[mine]) == ["one", "two"], "the primary's"
                assert "two" in str(own.context("two"))
                time.sleep(0.6)  # a check lies between
            memory.remember(others, "Ada likes tea.")
            assert [one.content for one in memory.search(others, "tea")] == ["Ada likes tea."]
            assert said(memory, others, chats[others]) == ["one", "two"], "all of a writer"
        standby.catch_up()
        wait_for(lambda: said(memory, others, chats[others]) == ["one", "two"])
        assert said(memory, mine, chats[mine]) == ["one", "two"]


def test_reads_go_to_the_primary_beyond_the_permitted_lag(
    dsn: str, standby: Standby, writer: AgentMemory
) -> None:
    user = uuid.uuid4()
    chat = writer.session(user=user, model="m")
    chat.append(user="one")
    standby.catch_up()
    with reader(dsn, standby, max_lag=0.8) as memory:
        assert said(memory, user, chat) == ["one"]
        with held(standby):
            chat.append(user="two")
            time.sleep(0.9)
            assert said(memory, user, chat) == ["one", "two"]
        standby.catch_up()
        memory._core.write.transport.writes.note(user)  # type: ignore[attr-defined]
        time.sleep(0.9)
        said(memory, user, chat)
        assert memory._core.write.transport.writes._by_user == {}  # type: ignore[attr-defined]
    with reader(dsn, standby, max_lag=0) as memory, held(standby):
        chat.append(user="three")
        assert len(said(memory, user, chat)) == 3


def test_reads_go_to_the_primary_while_the_standby_is_away(
    dsn: str, standby: Standby, writer: AgentMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pgrecall._sync.replica._AWAY_SECONDS", 0.2)
    user = uuid.uuid4()
    chat = writer.session(user=user, model="m")
    chat.append(user="one")
    standby.catch_up()
    with reader(dsn, standby, max_lag=600) as memory:
        assert said(memory, user, chat) == ["one"]
        standby.stop()
        try:
            for _ in range(3):
                assert said(memory, user, chat) == ["one"]
        finally:
            standby.start()
        standby.catch_up()
        replica: Any = memory._core.history.transport

        def is_back() -> bool:
            said(memory, user, chat)
            return any(as_of > 0 for as_of in replica._as_of.values())

        wait_for(is_back)
        with held(standby):
            writer.session(user=user, session_id=chat.session_id).append(user="two")
            assert said(memory, user, chat) == ["one"], "the standby answers again"
    with reader(dsn, standby, max_lag=600) as memory:
        standby.stop()
        try:
            assert said(memory, user, chat) == ["one", "two"], "nor is it needed at first"
        finally:
            standby.start()


def test_each_of_several_servers_is_asked_for_its_own_lag(
    dsn: str, standby: Standby, writer: AgentMemory
) -> None:
    """A pool may hold connections to the primary and to a standby that came back late."""
    user = uuid.uuid4()
    chat = writer.session(user=user, model="m")
    chat.append(user="one")
    standby.catch_up()
    there = conninfo.conninfo_to_dict(standby.dsn("postgres"))
    here = conninfo.conninfo_to_dict(dsn)
    both = conninfo.make_conninfo(
        dsn, host=f"{here['host']},{there['host']}", port=f"{here['port']},{there['port']}",
        target_session_attrs="prefer-standby",
    )  # fmt: skip
    standby.stop()
    try:
        with AgentMemory.connect(
            dsn, history_dsn=both, memory_dsn=both, embedder=False,
            limits=Limits(max_lag=0.5, max_connections=4),
        ) as memory:  # fmt: skip
            assert said(memory, user, chat) == ["one"]
            standby.start(recovery_min_apply_delay="1h")
            chat.append(user="two")
            time.sleep(0.6)
            replica: Any = memory._core.history.transport
            for _ in range(5):
                seen = together([lambda: said(memory, user, chat) for _ in range(6)])
                assert seen == [["one", "two"]] * 6
            assert len(replica._as_of) == 2, "no connection led to the standby"
    finally:
        standby.stop()
        standby.start()


def test_writes_of_a_worker_count_as_own(dsn: str, standby: Standby, writer: AgentMemory) -> None:
    user = uuid.uuid4()
    chat = writer.session(user=user, model="m", extraction="verbatim")
    chat.append(user="I live in Lyon.", reply="Noted.")
    chat.close()
    there = standby.dsn(str(conninfo.conninfo_to_dict(dsn)["dbname"]))
    standby.catch_up()
    with AgentMemory.connect(
        dsn, memory_dsn=there, worker_dsn=dsn, embedder=False, limits=Limits(max_lag=600)
    ) as memory:
        assert memory.memories.list(user) == []
        with held(standby):
            memory.worker().run_until_idle()
            assert [one.content for one in memory.memories.list(user)] == ["I live in Lyon."]


def test_many_writers_are_noted_together(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pgrecall._writes._MAX_WRITERS", 3)
    writes = Writes()
    users = [uuid.uuid4() for _ in range(5)]
    before = time.monotonic()
    for user in users[:3]:
        writes.note(user)
    assert writes.last(users[3]) < before
    writes.note(users[3])
    assert all(writes.last(user) >= before for user in [*users, None])
    assert writes._by_user == {}
    writes.note(users[4])
    writes.forget(time.monotonic())
    assert writes._by_user == {}


def test_read_that_the_replay_cancels_is_answered_by_the_primary(
    dsn: str, standby: Standby, writer: AgentMemory
) -> None:
    user = uuid.uuid4()
    chat = writer.session(user=user, model="m")
    chat.append(user="one")
    standby.catch_up()
    with reader(dsn, standby, max_lag=600) as memory:
        replica: Any = memory._core.history.transport
        said(memory, user, chat)

        for error in ("SerializationFailure", "DeadlockDetected", "InternalError_"):

            def canceled(*_: Any, error: str = error) -> Any:
                raise getattr(psycopg.errors, error)

            replica._pooled = canceled
            assert said(memory, user, chat) == ["one"]

        def refused(*_: Any) -> Any:
            raise psycopg.errors.InsufficientPrivilege

        replica._pooled = refused
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            said(memory, user, chat)


def test_writes_leave_a_connection_that_has_become_read_only(dsn: str) -> None:
    """As where an address leads to the former primary, which is a standby now."""
    name = sql.Identifier(str(conninfo.conninfo_to_dict(dsn)["dbname"]))
    change = sql.SQL("alter database {} {} default_transaction_read_only {}")
    with (
        psycopg.connect(dsn, autocommit=True) as admin,
        AgentMemory.connect(dsn, embedder=False, limits=Limits(max_connections=1)) as memory,
    ):
        user = uuid.uuid4()
        chat = memory.session(user=user, model="m")
        chat.append(user="one")
        for write in (
            lambda: chat.append(user="two"),
            lambda: memory.remember(user, "Ada likes tea."),
        ):
            admin.execute(change.format(name, sql.SQL("set"), sql.SQL("= on")))
            memory._core.write.transport._own_pool.drain()  # type: ignore[union-attr]
            wait_for(lambda: is_read_only(memory))
            admin.execute(change.format(name, sql.SQL("reset"), sql.SQL("")))
            write()
        assert said(memory, user, chat) == ["one", "two"]
        assert len(memory.memories.list(user)) == 1


def is_read_only(memory: AgentMemory) -> bool:
    (row,) = memory._core.write.query(b"select current_setting('transaction_read_only')")
    return bool(row[0] == "on")


def test_promotion_under_load_loses_nothing() -> None:
    """With both hosts in each DSN, clients follow the promotion; what was acknowledged is there."""
    # an acknowledged commit must have reached the standby
    with running_server("embedded", {"synchronous_commit": "on"}) as server:
        first = conninfo.conninfo_to_dict(server.admin_dsn)
        with psycopg.connect(server.admin_dsn, autocommit=True) as admin:
            schema.install(admin, embedding_dimensions=DIMENSIONS, share_roles=True)
            admin.execute("alter system set synchronous_standby_names = '*'")
            with streaming_standby(server) as standby:
                admin.execute("select pg_reload_conf()")
                second = conninfo.conninfo_to_dict(standby.dsn(str(first["dbname"])))
                both = conninfo.make_conninfo(
                    server.admin_dsn, host=f"{first['host']},{second['host']}",
                    port=f"{first.get('port', 5432)},{second.get('port', 5432)}",
                )  # fmt: skip
                follow_promotion(both, admin, standby)


def kill_server(conn: Connection) -> None:
    """End all processes of a server at once, as a power cut does."""
    folder = Path(str(value(conn, "show data_directory")))
    postmaster = int((folder / "postmaster.pid").read_text().split()[0])
    children = Path(f"/proc/{postmaster}/task/{postmaster}/children").read_text().split()
    for pid in (postmaster, *map(int, children)):
        os.kill(pid, signal.SIGKILL)


def follow_promotion(both: str, admin: Connection, standby: Standby) -> None:
    write = conninfo.make_conninfo(both, target_session_attrs="read-write")
    read = conninfo.make_conninfo(both, target_session_attrs="prefer-standby")
    ended = threading.Event()
    lost: list[str] = []
    acknowledged = [0]

    def talk(number: int) -> None:
        with AgentMemory.connect(
            write, history_dsn=read, memory_dsn=read, embedder=False,
            limits=Limits(max_lag=5, connect_timeout=5),
        ) as memory:  # fmt: skip
            user = uuid.uuid4()
            chat = memory.session(user=user, model="m")
            known: list[str] = []
            while not ended.is_set():
                text = f"message {len(known)}"
                request = uuid.uuid4()
                while True:
                    try:
                        chat.append(user=text, request_id=request)
                        break
                    except InterruptedCallError:
                        time.sleep(0.05)
                known.append(text)
                acknowledged[0] += 1
                try:
                    seen = said(memory, user, chat)
                except InterruptedCallError:
                    continue
                if seen != known[-50:]:
                    lost.append(f"{number}: {seen[-3:]} instead of {known[-3:]}")

    threads = [threading.Thread(target=talk, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    try:
        wait_for(lambda: acknowledged[0] > 40)
        kill_server(admin)
        with psycopg.connect(standby.dsn("postgres"), autocommit=True) as conn:
            assert value(conn, "select pg_promote(true, 60)") is True
            conn.execute("alter system set synchronous_standby_names = ''")
            conn.execute("select pg_reload_conf()")
        before = acknowledged[0]
        wait_for(lambda: acknowledged[0] > before + 40, seconds=60)
    finally:
        ended.set()
        for thread in threads:
            thread.join()
    assert lost == []
    with psycopg.connect(standby.dsn(str(admin.info.dbname))) as conn:
        stored = value(conn, "select count(*) from recall.conversation_history")
        assert stored == acknowledged[0]
