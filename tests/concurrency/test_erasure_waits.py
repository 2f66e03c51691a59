"""An erasure waits for the writers of the erased user, and for nobody else."""

from __future__ import annotations

import threading
import time
import uuid
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import psycopg
import pytest
from psycopg.types.json import Jsonb

from pgrecall.errors import NotFoundError
from support import call, open_session, raise_errors, rows, together, value, wait_for_lock
from support.everyfunction import CALLS, Call, World, furnish
from support.servers import TestServer, running_server
from support.traces import counts

pytestmark = pytest.mark.concurrent

Connection = psycopg.Connection[Any]
Connect = Callable[..., Connection]

ERASURES = ["forget_user", "forget_session", "clear_session", "forget_memory"]
WRITERS = ["put_working", "record_access"]
PROMPT = "You are everybody's assistant."


def talked(conn: Connection) -> World:
    """Make a user with a session, a memory, an access and a value of working memory."""
    user = uuid.uuid4()
    session = open_session(conn, user, p_system_prompt=PROMPT)
    (memory,) = call(conn, "remember", p_user_id=user, p_content=f"likes {user}")
    world = {"user": user, "session": session, "memory": memory["memory_id"]}
    for writer in WRITERS:
        write(conn, writer, world)
    return world


def write(conn: Connection, function: str, world: World) -> Any:
    if function == "put_working":
        more: World = {"p_session_id": world["session"], "p_task_id": "t", "p_key": "k",
                       "p_value": {}}  # fmt: skip
    else:
        more = {"p_memory_ids": [world["memory"]], "p_relevance": "{1}"}
    return call(conn, function, p_user_id=world["user"], **more)


def erase(conn: Connection, function: str, world: World) -> Any:
    more = {"forget_memory": {"p_memory_id": world["memory"]}, "forget_user": {}}.get(
        function, {"p_session_id": world["session"]}
    )
    return call(conn, function, p_user_id=world["user"], **more)


def unlogged(conn: Connection, world: World) -> dict[str, int]:
    """Return how many rows of unlogged tables an erasure of the session or user has left."""
    return {
        table: value(conn, f"select count(*) from recall.{table} where user_id = %s",
                     [world["user"]])
        for table in ("working_memory", "memory_access_log")
    }  # fmt: skip


def begin(*asked: Callable[[], Any]) -> tuple[list[threading.Thread], list[Any]]:
    """Run each in a thread; return the threads and where their results or errors arrive."""
    found: list[Any] = []

    def work(one: Callable[[], Any]) -> None:
        try:
            found.append(one())
        except psycopg.Error as error:
            found.append(error)

    threads = [threading.Thread(target=work, args=(one,)) for one in asked]
    for thread in threads:
        thread.start()
    return threads, found


@pytest.mark.parametrize("erasure", ERASURES)
def test_erasure_does_not_wait_for_an_idle_writer_of_another_user(
    db: Connection, connect: Connect, erasure: str
) -> None:
    mine, theirs = talked(db), talked(db)
    writer, eraser = connect(autocommit=False), connect()
    for function in WRITERS:
        write(writer, function, theirs)
    open_session(writer, theirs["user"], p_system_prompt=PROMPT)
    eraser.execute("set lock_timeout = '500ms'")
    erase(eraser, erasure, mine)
    writer.commit()
    assert all(unlogged(db, theirs).values())


@pytest.mark.parametrize("erasure", ERASURES)
def test_writer_does_not_wait_for_an_open_erasure_of_another_user(
    db: Connection, connect: Connect, erasure: str
) -> None:
    mine, theirs = talked(db), talked(db)
    eraser, writer = connect(autocommit=False), connect()
    erase(eraser, erasure, mine)
    writer.execute("set lock_timeout = '500ms'")
    for function in WRITERS:
        write(writer, function, theirs)
    erase(writer, erasure, theirs)


@pytest.mark.parametrize("writer", WRITERS)
@pytest.mark.parametrize("others", [0, 1], ids=["one writer", "two writers"])
def test_erasure_names_the_own_writer_that_does_not_end(
    db: Connection, connect: Connect, writer: str, others: int
) -> None:
    world = talked(db)
    before = counts(db, world["user"])
    holders = [connect(autocommit=False) for _ in range(1 + others)]
    for holder in holders:
        write(holder, writer, world | {"session": open_session(db, world["user"])})
    before = counts(db, world["user"])
    eraser = connect()
    # nine seconds without the caller's own limit
    eraser.execute("set lock_timeout = '200ms'; set statement_timeout = '6s'")
    with pytest.raises(psycopg.errors.LockNotAvailable) as caught:
        erase(eraser, "forget_user", world)
    assert value(eraser, "show lock_timeout") == "200ms"
    assert str(world["user"]) in str(caught.value)
    assert "pg_terminate_backend" in (caught.value.diag.message_hint or "")
    for holder in holders:
        assert str(holder.info.backend_pid) in (caught.value.diag.message_detail or "")
    assert counts(db, world["user"]) == before
    for holder in holders:
        holder.commit()
    erase(eraser, "forget_user", world)
    assert not any(counts(db, world["user"]).values())


@pytest.mark.parametrize("erasure", ERASURES)
@pytest.mark.parametrize("writer", ["append_messages", "remember", "claim_jobs"])
def test_erasure_names_an_open_transaction_of_the_user(
    db: Connection, connect: Connect, erasure: str, writer: str
) -> None:
    world = talked(db)
    holder, eraser = connect(autocommit=False), connect()
    if writer == "append_messages":
        call(holder, writer, p_user_id=world["user"], p_session_id=world["session"],
             p_messages=Jsonb([{"role": "user", "content": "Hello."}]))  # fmt: skip
    elif writer == "remember":
        call(holder, writer, p_user_id=world["user"], p_content="Ada likes tea.")
    else:
        db.execute("delete from recall.jobs")
        db.execute("select recall.enqueue_job(%s, 'summarize', %s)",
                   [world["user"], world["session"]])  # fmt: skip
        db.execute("update recall.jobs set work = '{}'")
        call(holder, writer, p_worker="w")
    before = counts(db, world["user"])
    eraser.execute("set lock_timeout = '200ms'; set statement_timeout = '6s'")
    if (writer, erasure) == ("append_messages", "forget_memory"):
        erase(eraser, erasure, world)  # it leaves the session
        return
    with pytest.raises(psycopg.errors.LockNotAvailable, match="is still open") as caught:
        erase(eraser, erasure, world)
    assert caught.value.diag.message_detail == f"Process {holder.info.backend_pid}."
    assert value(eraser, "show lock_timeout") == "200ms"
    assert counts(db, world["user"]) == before
    holder.rollback()
    with eraser.transaction():
        erase(eraser, erasure, world)
        assert value(eraser, "show lock_timeout") == "200ms"


def test_erasure_names_each_open_append_that_may_be_the_user_s(
    db: Connection, connect: Connect
) -> None:
    """PostgreSQL does not tell whose subtransaction it is; all users here share a partition."""
    worlds = [talked(db) for _ in range(40)]
    homes = [value(db, "select tableoid from recall.sessions where user_id = %s", [w["user"]])
             for w in worlds]  # fmt: skip
    home = max(homes, key=homes.count)
    mine, theirs, _ = [w for w, at in zip(worlds, homes, strict=True) if at == home][:3]
    holders = [connect(autocommit=False), connect(autocommit=False)]
    for holder, world in zip(holders, (theirs, mine), strict=True):
        call(holder, "append_messages", p_user_id=world["user"], p_session_id=world["session"],
             p_messages=Jsonb([{"role": "user", "content": "Hello."}]))  # fmt: skip
    eraser = connect()
    eraser.execute("set lock_timeout = '200ms'")
    with pytest.raises(psycopg.errors.LockNotAvailable) as caught:
        erase(eraser, "forget_user", mine)
    pids = sorted(holder.info.backend_pid for holder in holders)
    assert caught.value.diag.message_detail == (f"It is one of the processes {pids[0]}, {pids[1]}.")
    with pytest.raises(psycopg.errors.LockNotAvailable) as caught:
        erase(eraser, "forget_user", theirs)
    assert caught.value.diag.message_detail == f"Process {holders[0].info.backend_pid}."


@pytest.mark.slow
@pytest.mark.parametrize("erasure", ["forget_user", "forget_session", "forget_memory"])
def test_erasure_waits_nine_seconds_for_an_open_transaction(
    db: Connection, connect: Connect, erasure: str
) -> None:
    world = talked(db)
    holder, eraser = connect(autocommit=False), connect()
    call(holder, "remember", p_user_id=world["user"], p_content="Ada likes tea.")
    eraser.execute("set statement_timeout = '20s'")
    began = time.monotonic()
    with pytest.raises(psycopg.errors.LockNotAvailable, match="is still open"):
        erase(eraser, erasure, world)
    assert 8.9 < time.monotonic() - began < 15


def test_first_write_of_a_user_stops_an_erasure_clearly(db: Connection, connect: Connect) -> None:
    """Nobody sees the row that its transaction has added to user_locks."""
    user = uuid.uuid4()
    session = open_session(db, user)
    holder = connect(autocommit=False)
    call(holder, "put_working", p_user_id=user, p_session_id=session, p_task_id="t", p_key="k",
         p_value=Jsonb(1))  # fmt: skip
    eraser = connect()
    eraser.execute("set lock_timeout = '200ms'")
    with pytest.raises(psycopg.errors.LockNotAvailable, match="is still open") as caught:
        call(eraser, "forget_user", p_user_id=user)
    assert caught.value.diag.message_detail == "Its process is not known."
    holder.rollback()
    with eraser.transaction():
        call(eraser, "forget_user", p_user_id=user)
        assert value(eraser, "show lock_timeout") == "200ms"


@pytest.mark.parametrize("erasure", ERASURES)
@pytest.mark.parametrize("writer", WRITERS)
@pytest.mark.parametrize("end", ["commit", "rollback", "kill"])
def test_erasure_sees_rows_of_its_own_writer(
    db: Connection, connect: Connect, erasure: str, writer: str, end: str
) -> None:
    world = talked(db)
    own = {"dbname": db.info.dbname} if end == "kill" else {}  # a connection for this test only
    holder = connect(autocommit=False, **own)
    write(holder, writer, world)
    eraser = connect()
    threads, found = begin(lambda: erase(eraser, erasure, world))
    wait_for_lock(db, eraser.info.backend_pid)
    if end == "kill":
        db.execute("select pg_terminate_backend(%s)", [holder.info.backend_pid])
    elif end == "commit":
        holder.commit()
    else:
        holder.rollback()
    threads[0].join(60)
    assert not isinstance(found[0], psycopg.Error), found
    has_more = writer == "record_access" and end == "commit"
    assert unlogged(db, world) == {
        "memory_access_log": 0 if erasure in ("forget_user", "forget_memory") else 1 + has_more,
        "working_memory": 1 if erasure == "forget_memory" else 0,
    }


@pytest.mark.parametrize("first", [False, True], ids=["again", "first write since a crash"])
@pytest.mark.parametrize("writer", WRITERS)
@pytest.mark.parametrize("level", ["read committed", "repeatable read", "serializable"])
def test_writer_that_waited_for_an_erasure_leaves_no_row(
    db: Connection, connect: Connect, writer: str, first: bool, level: str
) -> None:
    world = talked(db)
    if first:
        db.execute("delete from recall.user_locks where user_id = %s", [world["user"]])
    eraser, late = connect(autocommit=False), connect(autocommit=False)
    late.execute(f"set transaction isolation level {level}".encode())
    late.execute("select from recall.users limit 1")
    erase(eraser, "forget_user", world)
    threads, found = begin(lambda: (write(late, writer, world), late.commit()))
    wait_for_lock(db, late.info.backend_pid)
    eraser.commit()
    threads[0].join(60)
    late.rollback()
    if level != "read committed":
        assert found[0].sqlstate == "40001", found
    elif writer == "put_working":
        assert isinstance(found[0], NotFoundError) or found[0].sqlstate == "RC001", found
    else:
        assert found[0][0] == [{"record_access": 0}]
    assert not any(counts(db, world["user"]).values())


def test_two_erasures_of_a_user_at_once_end(db: Connection, connect: Connect) -> None:
    for one in ERASURES:
        for other in ERASURES:
            world = talked(db)
            leading, following = connect(autocommit=False), connect()
            erase(leading, one, world)
            threads, found = begin(partial(erase, following, other, world))
            wait_for_lock(db, following.info.backend_pid)
            leading.commit()
            threads[0].join(60)
            # whatever the first has left is what the second finds
            if isinstance(found[0], psycopg.Error):
                assert found[0].sqlstate == "RC001", (one, other, found)
            if "forget_user" in (one, other):
                assert not any(counts(db, world["user"]).values()), (one, other)


@pytest.mark.parametrize("erasure", ERASURES)
def test_erasure_waits_for_a_flush_of_its_user_and_leaves_nothing(
    db: Connection, connect: Connect, erasure: str
) -> None:
    db.execute("delete from recall.memory_access_log")
    world = talked(db)
    flusher, eraser = connect(autocommit=False), connect()
    assert call(flusher, "flush_access_log")[0]["done"] == 1
    threads, found = begin(lambda: erase(eraser, erasure, world))
    wait_for_lock(db, eraser.info.backend_pid)
    flusher.rollback()  # the deleted accesses are there again
    threads[0].join(60)
    assert not isinstance(found[0], psycopg.Error), found
    assert unlogged(db, world)["memory_access_log"] == (
        0 if erasure in ("forget_user", "forget_memory") else 1
    )


def test_flush_goes_on_beside_an_open_erasure(db: Connection, connect: Connect) -> None:
    db.execute("delete from recall.memory_access_log")
    mine, theirs = talked(db), talked(db)
    eraser, flusher = connect(autocommit=False), connect()
    erase(eraser, "forget_user", mine)
    flusher.execute("set lock_timeout = '500ms'")
    assert call(flusher, "flush_access_log") == [{"done": 1, "more": True}]
    assert unlogged(db, theirs)["memory_access_log"] == 0
    eraser.commit()
    assert call(flusher, "flush_access_log") == [{"done": 0, "more": False}]


def test_writers_lock_without_wal(db: Connection, connect: Connect) -> None:
    """A lock of a logged row would make each of these calls wait for the disk."""
    if not value(db, "select to_regproc('pg_stat_get_backend_wal') is not null"):
        pytest.skip("PostgreSQL 18 counts the WAL of a connection")
    world, conn = talked(db), connect()

    def records() -> int:
        conn.execute("select pg_stat_force_next_flush()")
        return value(db, "select wal_records from pg_stat_get_backend_wal(%s)",
                     [conn.info.backend_pid])  # fmt: skip

    for writer in WRITERS:
        write(conn, writer, world)
        before = records()
        for _ in range(10):
            write(conn, writer, world)
        assert records() - before <= 15, "a record for each commit, and few others"


# --- prompts that users share


@pytest.mark.parametrize("end", ["commit", "rollback"])
def test_a_prompt_that_another_transaction_stores_is_stored_once_more(
    db: Connection, connect: Connect, end: str
) -> None:
    prompt = f"New {uuid.uuid4()}"
    one, other = connect(autocommit=False), connect()
    first, second = uuid.uuid4(), uuid.uuid4()
    open_session(one, first, p_system_prompt=prompt)
    other.execute("set lock_timeout = '500ms'")
    session = open_session(other, second, p_system_prompt=prompt)
    getattr(one, end)()
    copies = value(db, "select count(*) from recall.system_prompts where content = %s", [prompt])
    assert copies == (2 if end == "commit" else 1)
    assert [row["system_prompt"] for row in call(db, "list_sessions", p_user_id=second)] == [prompt]
    assert call(db, "get_session", p_user_id=second, p_session_id=session)[0]["system_prompt"]
    (exported,) = call(db, "export_user", p_user_id=second)
    assert [p["content"] for p in exported["export_user"]["system_prompts"]] == [prompt]
    for user in (first, second):
        call(db, "forget_user", p_user_id=user)
    assert not rows(db, "select from recall.system_prompts where content = %s", [prompt])


def test_sessions_leave_a_shared_prompt_without_waiting(db: Connection, connect: Connect) -> None:
    prompt = f"Shared {uuid.uuid4()}"
    users = [uuid.uuid4(), uuid.uuid4()]
    sessions = [open_session(db, user, p_system_prompt=prompt) for user in users]
    conns = [connect(autocommit=False), connect(autocommit=False)]
    for conn, user, session in zip(conns, users, sessions, strict=True):
        conn.execute("set local lock_timeout = '500ms'")
        call(conn, "update_session", p_user_id=user, p_session_id=session,
             p_changes={"system_prompt": "Another."})  # fmt: skip
    conns[1].commit()
    conns[0].commit()
    call(db, "purge_expired", p_as_of="now")
    db.execute("update recall.system_prompts set released_at = released_at - interval '2 days'"
               " where content = %s", [prompt])  # fmt: skip
    call(db, "purge_expired")
    assert not rows(db, "select from recall.system_prompts where content = %s", [prompt])


def test_jobs_of_two_users_add_to_the_totals_of_a_day_at_once(
    db: Connection, connect: Connect
) -> None:
    span = "select recall._record_spans(array[jsonb_populate_record(null::recall.job_phases, %s)])"
    conns = [connect(autocommit=False) for _ in range(3)]
    total = "select coalesce(sum(cost_microcents), 0)::int from recall.model_spending_totals"
    before = value(db, total)
    for conn in conns:
        conn.execute("set local lock_timeout = '500ms'")
        conn.execute(span.encode(), [Jsonb({
            "user_id": str(uuid.uuid4()), "job_id": str(uuid.uuid4()), "kind": "embed",
            "phase_id": str(uuid.uuid4()), "phase": "embed", "duration_ms": 1, "items": 1,
            "prompt_tokens": 1, "completion_tokens": 1, "cost_microcents": 7,
            "created_at": value(db, "select now()").isoformat()})])  # fmt: skip
    for conn in conns[::-1]:
        conn.commit()
    assert value(db, total) == before + 21


# --- all calls


@pytest.fixture
def worlds(db: Connection) -> tuple[World, World]:
    """Two users with a prompt of both."""
    made = furnish(db, f"one{uuid.uuid4().hex}"), furnish(db, f"two{uuid.uuid4().hex}")
    for world in made:
        call(db, "update_session", p_user_id=world["user"], p_session_id=world["session"],
             p_changes={"system_prompt": PROMPT})  # fmt: skip
    return made


def of_a_user() -> list[Call]:
    return [asked for asked in CALLS if asked.of_user or asked.function == "ensure_user"]


def attempt(conn: Connection, asked: Call, world: World) -> psycopg.Error | None:
    try:
        conn.execute(asked.query.encode(), world).fetchall()
    except psycopg.Error as error:
        return error
    return None


@pytest.mark.slow
def test_no_call_of_a_user_makes_a_call_of_another_user_wait(
    db: Connection, connect: Connect, worlds: tuple[World, World]
) -> None:
    """Every call of one user, held open, beside every call of another and every sweep.

    The calls are held open in turns of several at once, since each pair would take an hour.
    """
    mine, theirs = worlds
    holders: list[Connection] = []
    held = of_a_user()
    groups = [held[number::6] for number in range(6)]
    for group in groups:
        holder = connect(autocommit=False)
        holders.append(holder)
        done = []
        for asked in group:
            holder.execute("savepoint before")
            error = attempt(holder, asked, mine)
            if error is None:
                done.append(asked)
            else:
                assert (error.sqlstate or "").startswith("RC"), (asked, error)
                holder.execute("rollback to before")
        assert len(done) > len(group) / 2
        prober = connect(autocommit=False)
        for asked in CALLS:
            prober.execute("set local lock_timeout = '400ms'")
            error = attempt(prober, asked, theirs)
            state = "" if error is None else error.sqlstate or ""
            assert state == "" or state.startswith("RC"), (asked, error, [*map(str, done)])
            prober.rollback()
        holder.rollback()


# --- many at once


@pytest.fixture
def large_server() -> Iterator[TestServer]:
    with running_server("embedded", {"max_connections": "340"}) as server:
        yield server


@pytest.mark.slow
def test_three_hundred_connections_erase_at_once(large_server: TestServer) -> None:
    """None of them fails for want of a lock, and nothing is left."""
    dsn = large_server.dsn(large_server.cloned_database("many"))
    with psycopg.connect(dsn, autocommit=True) as db:
        worlds = [talked(db) for _ in range(300)]
        conns = [psycopg.connect(dsn, autocommit=True) for _ in worlds]
        try:
            raise_errors(
                together(
                    [
                        lambda c=c, w=w: erase(c, "forget_session", w)
                        for c, w in zip(conns, worlds, strict=True)
                    ]
                )
            )
        finally:
            for conn in conns:
                conn.close()
        assert value(db, "select count(*) from recall.sessions") == 0
        assert value(db, "select count(*) from recall.working_memory") == 0
