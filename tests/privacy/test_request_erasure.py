"""Erasing anything that a job has used discards what models have made of it."""

from __future__ import annotations

import json
import threading
import uuid
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import psycopg
import pytest

from support import append, ask, call, open_session, rows, said, sweep, value, wait_for_lock
from support.memories import remember, vector
from support.months import a_year_later, said_in
from support.requests import answered, claim, scripted
from support.servers import TestServer

Connection = psycopg.Connection[Any]
Connect = Callable[..., Connection]
World = dict[str, Any]


def world_of(conn: Connection, user: uuid.UUID) -> World:
    """Make a user with a disputed memory that will expire, and an extraction before its second
    request."""
    conn.execute("delete from recall.jobs")
    expiry = datetime.now(UTC) + timedelta(days=1)
    row = remember(conn, user, "User is in Oslo", p_expires_at=expiry, p_embedding=vector(3))
    session = open_session(conn, user)
    (dispute,) = call(conn, "dispute_memory", p_user_id=user, p_memory_id=row["memory_id"],
                      p_session_id=session)  # fmt: skip
    append(conn, user, session,
           [*said("I live in Lyon and work as a nurse."),
            {"role": "assistant", "content": "Noted."}])  # fmt: skip
    job = claim(conn, "extract")
    chat = ask(conn, job)
    embed = ask(conn, job, answered(chat, scripted))
    assert (chat["type"], embed["type"]) == ("chat", "embed")
    return {"user": user, "memory": row["memory_id"], "dispute": dispute["memory_id"],
            "session": session, "job": job, "chat": chat, "embed": embed,
            "expiry": expiry + timedelta(seconds=1)}  # fmt: skip


def work_of(conn: Connection, world: World) -> Any:
    return value(conn, "select work from recall.jobs where job_id = %s", [world["job"]["job_id"]])


def names(world: World) -> World:
    """Return what a statement may name."""
    return {key: item for key, item in world.items() if not isinstance(item, dict)}


ERASURES = {
    "forget_memory": "select recall.forget_memory(%(user)s, %(memory)s)",
    "forget_session": "select recall.forget_session(%(user)s, %(other)s)",
    "retract_memory": "select recall.retract_memory(%(user)s, %(memory)s)",
    "dispute_memory": "select recall.dispute_memory(%(user)s, %(memory)s, %(session)s,"
    " 'I am not in Oslo.', 'I am not in Oslo.')",
    "resolve_dispute": "select recall.resolve_dispute(%(user)s, %(dispute)s, true)",
    "apply_decisions": "select recall.apply_decisions(%(user)s, null, jsonb_build_array("
    "jsonb_build_object('decision', 'DELETE', 'target_id', %(memory)s::text,"
    " 'provenance', 'user_stated')))",
    "retract_turns": "select recall.retract_turns(%(user)s, %(session)s, 2)",
    "revoke_source": "select recall.revoke_source(%(user)s, null, 'manual')",
    "expire_memories": "select recall.expire_memories(p_as_of => %(expiry)s)",
}


@pytest.mark.parametrize("erasure", ERASURES)
def test_an_erasure_discards_the_state_of_jobs(
    db: Connection, user: uuid.UUID, erasure: str
) -> None:
    world = world_of(db, user)
    world["other"] = open_session(db, user)
    assert work_of(db, world)["made"] != {}
    db.execute(ERASURES[erasure].encode(), names(world))
    assert work_of(db, world) is None

    job, late = world["job"], answered(world["embed"], scripted)
    again = ask(db, job, late)
    assert (again["type"], again["purpose"]) == ("chat", "extract")
    assert again["request_id"] not in (world["chat"]["request_id"], world["embed"]["request_id"])
    assert ask(db, job, answered(world["chat"], scripted)) == again
    assert work_of(db, world)["made"] == {}
    spans = value(db, "select count(*) from recall.job_phases where user_id = %s", [user])
    assert spans == 1, "late answers left nothing"


def test_an_erasure_discards_vectors(db: Connection, user: uuid.UUID) -> None:
    """They are kept between two batches, and beside them which texts they belong to."""
    ids = [remember(db, user, f"User owns bicycle number {n}")["memory_id"] for n in range(3)]
    db.execute("delete from recall.jobs")
    call(db, "enqueue_job", p_user_id=user, p_kind="embed")
    job = claim(db, "embed")
    request = ask(db, job, embed_batch=2)
    ask(db, job, answered(request, scripted), embed_batch=2)
    state = "select work is null as is_new, cardinality(vectors) from recall.jobs where job_id = %s"
    assert rows(db, state, [job["job_id"]]) == [{"is_new": False, "cardinality": 2}]
    call(db, "retract_memory", p_user_id=user, p_memory_id=ids[2])
    assert rows(db, state, [job["job_id"]]) == [{"is_new": True, "cardinality": None}]
    assert ask(db, job, embed_batch=2)["inputs"] == request["inputs"]


@pytest.mark.parametrize("erasure", ["forget_user", "forget_session", "replay_erasures"])
def test_an_erased_job_is_gone(db: Connection, user: uuid.UUID, erasure: str) -> None:
    world = world_of(db, user)
    if erasure == "forget_user":
        call(db, "forget_user", p_user_id=user)
    elif erasure == "forget_session":
        call(db, "forget_session", p_user_id=user, p_session_id=world["session"])
    else:
        before = value(db, "select to_jsonb(u) from recall.users as u where user_id = %s", [user])
        job = value(db, "select to_jsonb(j) from recall.jobs as j where user_id = %s"
                        " and state = 'running'", [user])  # fmt: skip
        call(db, "forget_user", p_user_id=user)
        for table, row in (("users", before), ("jobs", job)):
            db.execute(
                f"insert into recall.{table} select * from"
                f" jsonb_populate_record(null::recall.{table}, %s::jsonb)".encode(),
                [json.dumps(row)],
            )
        assert call(db, "replay_erasures") == [{"replay_erasures": 1}]
    assert ask(db, world["job"], answered(world["embed"], scripted)) == {"type": "gone"}
    assert rows(db, "select from recall.jobs where job_id = %s", [world["job"]["job_id"]]) == []


def test_a_session_keeps_the_state_of_anothers_jobs(db: Connection, user: uuid.UUID) -> None:
    """Turns are used by the jobs of their session only."""
    world = world_of(db, user)
    other = open_session(db, user)
    append(db, user, other, said("one", "two"))
    call(db, "retract_turns", p_user_id=user, p_session_id=other, p_from_turn=2)
    assert ask(db, world["job"]) == world["embed"]


def test_an_import_takes_no_state(db: Connection, user: uuid.UUID, server: TestServer) -> None:
    """A document that somebody has changed would put words into a model's mouth."""
    world_of(db, user)
    (exported,) = call(db, "export_user", p_user_id=user)
    document = exported["export_user"]
    (job,) = (row for row in document["tables"]["jobs"] if row["kind"] == "extract")
    assert {"work", "vectors", "lease"}.isdisjoint(job)
    job["work"] = {"made": {"candidates": "none of these"}}
    call(db, "forget_user", p_user_id=user)
    call(db, "import_user", p_user_id=user, p_document=document)
    again = ask(db, claim(db, "extract"))
    assert again["purpose"] == "extract"


def test_a_purge_of_history_discards_the_state(server: TestServer, user: uuid.UUID) -> None:
    name = server.cloned_database("request_purge")
    try:
        with psycopg.connect(server.dsn(name), autocommit=True) as conn:
            for task in ("purge_expired", "drop_expired_partitions"):
                of = uuid.uuid4()
                session = open_session(conn, of)
                append(conn, of, session, said_in(14, "I live in Lyon and work there.", "Noted."))
                if task == "purge_expired":
                    call(conn, "configure_user", p_user_id=of,
                         p_changes={"history_retention": "1 month"})  # fmt: skip
                call(conn, "close_session", p_user_id=of, p_session_id=session)
                # what an extraction has yet to read is never purged
                conn.execute("delete from recall.jobs")
                call(conn, "enqueue_job", p_user_id=of, p_kind="summarize", p_session_id=session)
                job = claim(conn, "summarize")
                chat = ask(conn, job)
                assert chat["type"] == "chat", chat
                a_year_later(conn)
                with psycopg.connect(server.dsn(name)) as holder:
                    holder.execute("select from recall.users where user_id = %s for update", [of])
                    assert call(conn, task)[0]["more"] is True, "waits for nobody"
                assert ask(conn, job) == chat
                sweep(conn, task)
                assert value(conn, "select work from recall.jobs where job_id = %s",
                             [job["job_id"]]) is None  # fmt: skip
                assert ask(conn, job, answered(chat, scripted))["type"] == "done"
                assert rows(conn, "select from recall.session_summaries") == []
    finally:
        server.drop_database(name)


# --- at the same time


def asking(conn: Connection, job: dict[str, Any], answer: Any) -> dict[str, Any] | psycopg.Error:
    try:
        return ask(conn, job, answer)
    except psycopg.Error as error:
        return error


@pytest.mark.concurrent
@pytest.mark.parametrize("isolation", ["read committed", "repeatable read"])
@pytest.mark.parametrize("erasure", ERASURES)
def test_an_answer_waits_for_an_erasure(
    db: Connection, connect: Connect, user: uuid.UUID, erasure: str, isolation: str
) -> None:
    """And is then one to a request of before; a snapshot of before comes to 40001."""
    world = world_of(db, user)
    world["other"] = open_session(db, user)
    eraser, worker = connect(autocommit=False), connect(autocommit=False)
    worker.execute(f"set transaction isolation level {isolation}".encode())
    worker.execute("select from recall.settings")
    eraser.execute(ERASURES[erasure].encode(), names(world))
    found: list[Any] = []
    thread = threading.Thread(target=lambda: found.append(
        asking(worker, world["job"], answered(world["embed"], scripted))))  # fmt: skip
    thread.start()
    wait_for_lock(db, worker.info.backend_pid)
    eraser.commit()
    thread.join(60)
    if isolation == "repeatable read":
        assert isinstance(found[0], psycopg.errors.SerializationFailure)
        worker.rollback()
    else:
        assert found[0]["purpose"] == "extract"
        worker.commit()
    assert (work_of(db, world) or {"made": {}})["made"] == {}


@pytest.mark.concurrent
@pytest.mark.parametrize("erasure", [e for e in ERASURES if e != "expire_memories"])
def test_an_erasure_waits_for_an_answer(
    db: Connection, connect: Connect, user: uuid.UUID, erasure: str
) -> None:
    world = world_of(db, user)
    world["other"] = open_session(db, user)
    embed = world["embed"]
    worker, eraser = connect(autocommit=False), connect()
    assert ask(worker, world["job"])["request_id"] == embed["request_id"]
    thread = threading.Thread(
        target=lambda: eraser.execute(ERASURES[erasure].encode(), names(world))
    )
    thread.start()
    wait_for_lock(db, eraser.info.backend_pid)
    worker.commit()
    thread.join(60)
    assert work_of(db, world) is None


@pytest.mark.concurrent
def test_requests_and_erasures_of_a_user_end_without_a_deadlock(
    db: Connection, connect: Connect, user: uuid.UUID
) -> None:
    """Two workers go on asking and answering while each kind of erasure comes again and again."""
    world = world_of(db, user)
    sessions = [world["session"], *(open_session(db, user) for _ in range(2))]
    for session in sessions[1:]:
        append(db, user, session, said(*(f"I moved to town {n} in May." for n in range(8))))
    stop, failed = threading.Event(), []
    workers = [connect() for _ in range(2)]
    erasers = [connect() for _ in range(3)]

    def go_on(conn: Connection) -> None:
        try:
            while not stop.is_set():
                for claimed in call(conn, "claim_jobs", p_worker="w", p_flush=True):
                    request = ask(conn, claimed)
                    for _ in range(20):
                        if request["type"] not in ("chat", "embed"):
                            break
                        request = ask(conn, claimed, answered(request, by_the_book))
        except Exception as error:
            failed.append(error)

    def erase(conn: Connection, place: int) -> None:
        try:
            for n in range(12):
                memory = remember(conn, user, f"User has bicycle {place}.{n}")["memory_id"]
                call(conn, "retract_turns", p_user_id=user, p_session_id=sessions[place],
                     p_from_turn=1)  # fmt: skip
                append(conn, user, sessions[place], said(f"I moved to town {n} in June."))
                call(conn, "retract_memory", p_user_id=user, p_memory_id=memory)
                call(conn, "forget_memory", p_user_id=user, p_memory_id=memory)
                call(conn, "revoke_source", p_user_id=user, p_source="conversation")
        except Exception as error:
            failed.append(error)

    threads = [threading.Thread(target=go_on, args=(conn,)) for conn in workers]
    threads += [threading.Thread(target=erase, args=(conn, n)) for n, conn in enumerate(erasers)]
    for thread in threads:
        thread.start()
    for thread in threads[2:]:
        thread.join(60)
    stop.set()
    for thread in threads[:2]:
        thread.join(60)
    assert failed == []
    states = rows(db, "select last_error from recall.jobs where user_id = %s and state = 'dead'",
                  [user])  # fmt: skip
    assert states == []


def by_the_book(request: dict[str, Any]) -> Any:
    """Answer each question: one fact of each turn, ADD for each candidate, a summary."""
    asked = request["messages"][1]["content"]
    if request["purpose"] == "extract":
        turns = [int(line[1 : line.index("]")]) for line in asked.split("\n") if line[:1] == "["]
        return {"facts": [{"content": f"User did what turn {turn} says.", "kind": "fact",
                           "confidence": "high", "turns": [turn]} for turn in turns],
                "episodes": []}  # fmt: skip
    if request["purpose"] == "consolidate":
        count = sum(line[:1].isdigit() for line in asked.split("\n"))
        return {"decisions": [{"candidate": n, "decision": "ADD"} for n in range(1, count + 1)]}
    return scripted(request)
