"""The order of locks of erasures and sweeps, as docs/architecture.md has it."""

from __future__ import annotations

import threading
import uuid
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import psycopg
import pytest

from support import (
    append,
    call,
    open_session,
    raise_errors,
    rows,
    said,
    together,
    value,
    wait_for_lock,
)

Connection = psycopg.Connection[Any]
Connect = Callable[..., Connection]

UNLOGGED = ["memory_access_log", "working_memory"]


def talked(conn: Connection, sessions: int = 1) -> tuple[uuid.UUID, list[uuid.UUID]]:
    """Make a user with sessions that have a turn, a memory of it with an access, and a value."""
    user = uuid.uuid4()
    made = []
    for number in range(sessions):
        made.append(session := open_session(conn, user))
        append(conn, user, session, said(f"number {number}"))
        (memory,) = call(conn, "remember", p_user_id=user, p_session_id=session,
                         p_content=f"said number {number}")  # fmt: skip
        call(conn, "record_access", p_user_id=user, p_memory_ids=[memory["memory_id"]],
             p_relevance="{1}")  # fmt: skip
        call(conn, "put_working", p_user_id=user, p_session_id=session, p_task_id="t", p_key="k",
             p_value={})  # fmt: skip
    return user, made


@pytest.mark.concurrent
def test_sessions_of_several_users_are_forgotten_at_once(db: Connection, connect: Connect) -> None:
    talked_of = [talked(db, 5) for _ in range(6)]
    conns = [connect() for _ in talked_of]

    def forget(number: int) -> None:
        user, sessions = talked_of[number]
        for session in sessions:
            call(conns[number], "forget_session", p_user_id=user, p_session_id=session)

    raise_errors(together([lambda n=n: forget(n) for n in range(len(conns))]))
    for user, _ in talked_of:
        for table in (*UNLOGGED, "sessions", "memory_store"):
            count = value(db, f"select count(*) from recall.{table} where user_id = %s", [user])
            assert count == 0, table


@pytest.mark.concurrent
@pytest.mark.parametrize(
    "erasure", ["forget_user", "forget_session", "clear_session", "forget_memory"]
)
def test_an_erasure_locks_unlogged_rows_last(
    db: Connection, connect: Connect, erasure: str
) -> None:
    """While anything else holds it up, the user's working memory goes on; it locks no table."""
    user, (session,) = talked(db)
    (memory,) = rows(db, "select memory_id from recall.memory_store where user_id = %s", [user])
    more = {"forget_session": {"p_session_id": session}, "clear_session": {"p_session_id": session},
            "forget_memory": {"p_memory_id": memory["memory_id"]}}.get(erasure, {})  # fmt: skip
    holder, eraser = connect(autocommit=False), connect(autocommit=False)
    holder.execute("select from recall.memory_store where user_id = %s for share", [user])
    thread = threading.Thread(target=lambda: call(eraser, erasure, p_user_id=user, **more))
    thread.start()
    wait_for_lock(db, eraser.info.backend_pid)
    db.execute("set lock_timeout = '1s'")
    call(db, "put_working", p_user_id=user, p_session_id=session, p_task_id="t", p_key="x",
         p_value={})  # fmt: skip
    call(db, "record_access", p_user_id=user, p_memory_ids=[memory["memory_id"]],
         p_relevance="{1}")  # fmt: skip
    db.execute("reset lock_timeout")
    holder.commit()
    thread.join(60)
    modes = rows(db, "select mode from pg_locks where pid = %s and relation = any (%s::regclass[])",
                 [eraser.info.backend_pid, [f"recall.{table}" for table in UNLOGGED]])  # fmt: skip
    assert {row["mode"] for row in modes} <= {"AccessShareLock", "RowExclusiveLock"}
    eraser.commit()
    left = value(db, "select count(*) from recall.memory_access_log where memory_id = %s",
                 [memory["memory_id"]])  # fmt: skip
    assert left == 0


def expired(conn: Connection, user: uuid.UUID, session: uuid.UUID | None) -> dict[str, uuid.UUID]:
    """Leave a job whose worker died, and an equal one that is ready; return their ids by state."""
    ids = {"p_user_id": user, "p_kind": "embed", "p_session_id": session, "p_dedupe_key": "x"}
    conn.execute("delete from recall.jobs")
    call(conn, "enqueue_job", **ids)
    call(conn, "claim_jobs", p_worker="w", p_lease=timedelta(milliseconds=1))
    call(conn, "enqueue_job", **ids)
    found = rows(conn, "select job_id, state::text from recall.jobs where user_id = %s", [user])
    assert len(found) == 2
    return {row["state"]: row["job_id"] for row in found}


@pytest.mark.concurrent
@pytest.mark.parametrize("held", ["an erasure", "the session", "the job", "the ready job"])
def test_a_lease_is_taken_back_without_waiting(db: Connection, connect: Connect, held: str) -> None:
    """An erasure has deleted the ready job, and is about to delete the running one: a sweep that
    holds that one must not wait for the other."""
    user, (session,) = talked(db)
    jobs = expired(db, user, session)
    holder, sweeper = connect(autocommit=False), connect()
    ids = {"user": user, "session": session, **jobs}
    statements = {
        "an erasure": ["delete from recall.users where user_id = %(user)s",
                       "delete from recall.jobs where job_id = %(ready)s"],
        "the session": ["select from recall.sessions where session_id = %(session)s for share",
                        "update recall.jobs set run_at = now() where job_id = %(ready)s"],
        "the job": ["select from recall.jobs where job_id = %(running)s for update"],
        "the ready job": ["select from recall.users where user_id = %(user)s for update",
                          "select from recall.jobs where job_id = %(ready)s for update"],
    }  # fmt: skip
    for statement in statements[held]:
        holder.execute(statement.encode(), ids)
    sweeper.execute("set lock_timeout = '3s'")
    assert call(sweeper, "release_expired_leases") == [{"done": 0, "more": True}]
    holder.rollback()
    assert call(sweeper, "release_expired_leases") == [{"done": 1, "more": False}]
    assert value(db, "select count(*) from recall.jobs where state = 'ready'") == 1


@pytest.mark.concurrent
def test_dead_jobs_are_retried_without_waiting(db: Connection, connect: Connect) -> None:
    user, (session,) = talked(db)
    jobs = expired(db, user, session)
    db.execute("update recall.jobs set state = 'dead', worker = null, lease_until = null,"
               " lease_token = null where job_id = %s", [jobs["running"]])  # fmt: skip
    holder, admin = connect(autocommit=False), connect()
    holder.execute("delete from recall.users where user_id = %s", [user])
    holder.execute("delete from recall.jobs where job_id = %s", [jobs["ready"]])
    admin.execute("set lock_timeout = '3s'")
    assert call(admin, "retry_dead_jobs") == [{"retry_dead_jobs": 0}]
    holder.rollback()
    assert call(admin, "retry_dead_jobs") == [{"retry_dead_jobs": 1}]


@pytest.mark.concurrent
def test_users_are_erased_beside_maintenance(db: Connection, connect: Connect) -> None:
    users = [talked(db)[0] for _ in range(12)]
    db.execute("delete from recall.jobs")
    for user in users:
        for kind in ("embed", "merge", "pattern", "extract"):
            ids = {"p_user_id": user, "p_kind": kind, "p_dedupe_key": "x"}
            call(db, "enqueue_job", **ids)
            call(db, "claim_jobs", p_worker="w", p_limit=100, p_lease=timedelta(milliseconds=1))
            call(db, "enqueue_job", **ids)
    conns = [connect() for _ in range(4)]
    ended = threading.Event()

    def forget() -> None:
        for user in users:
            call(conns[0], "forget_user", p_user_id=user)
        ended.set()

    def sweep(conn: Connection) -> None:
        while not ended.is_set():
            call(conn, "release_expired_leases")
            call(conn, "run_due_maintenance")

    raise_errors(together([forget, *(lambda c=c: sweep(c) for c in conns[1:])]))
    left = value(db, "select count(*) from recall.jobs where user_id = any (%s)", [users])
    assert left == 0


@pytest.mark.concurrent
def test_erasures_of_a_restored_backup_hold_up_nobody_else(
    db: Connection, connect: Connect
) -> None:
    """While they wait for the second user, others' working memory goes on."""
    pairs = sorted(talked(db) for _ in range(2))
    receipts = []
    for user, _ in pairs:
        receipt = {"erasure_id": str(uuid.uuid4()), "salt": "\\x00",
                   "erased_at": "2100-01-01T00:00:00Z", "counts": {},
                   "digest": value(db, "select sha256('\\x00'::bytea || uuid_send(%s))::text",
                                   [user])}  # fmt: skip
        receipts.append(receipt)
    other, (session,) = talked(db)
    holder, eraser = connect(autocommit=False), connect()
    holder.execute("select from recall.users where user_id = %s for update", [pairs[1][0]])
    thread = threading.Thread(target=lambda: call(eraser, "replay_erasures", p_erasures=receipts))
    thread.start()
    wait_for_lock(db, eraser.info.backend_pid)
    db.execute("set lock_timeout = '1s'")
    call(db, "put_working", p_user_id=other, p_session_id=session, p_task_id="t", p_key="y",
         p_value={})  # fmt: skip
    holder.rollback()
    thread.join(60)
    for user, _ in pairs:
        for table in (*UNLOGGED, "users"):
            count = value(db, f"select count(*) from recall.{table} where user_id = %s", [user])
            assert count == 0, table
    db.execute("delete from recall.erasures where erased_at > now()")


@pytest.mark.concurrent
def test_a_login_without_rights_keeps_no_job_from_being_claimed(
    db: Connection, connect: Connect
) -> None:
    """It reads keys of advisory locks in pg_locks, and takes what it has seen."""
    user, (session,) = talked(db)
    db.execute("delete from recall.jobs")
    for key in ("a", "b"):
        call(db, "enqueue_job", p_user_id=user, p_kind="embed", p_session_id=session,
             p_dedupe_key=key)  # fmt: skip
    first, second = connect(autocommit=False), connect()
    assert len(call(first, "claim_jobs", p_worker="w", p_limit=5)) == 1
    assert rows(db, "select from pg_locks where locktype = 'advisory'") == []
    second.execute("set lock_timeout = '2s'")
    assert call(second, "claim_jobs", p_worker="v", p_limit=5) == [], "never two of a session"
    first.rollback()
    assert len(call(second, "claim_jobs", p_worker="v", p_limit=5)) == 1
    assert call(first, "claim_jobs", p_worker="w", p_limit=5) == []
    first.rollback()
