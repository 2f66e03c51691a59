"""One memory or one conversation forgotten for good, and nothing else."""

from __future__ import annotations

import threading
import uuid
from typing import Any

import psycopg
import pytest

from everyfunction import furnish
from invariants import check_invariants
from pgrecall import AgentMemory
from support import append, call, open_session, refused, rows, said, value
from test_forget import sums, tables_with_users, wait_for_lock

Connection = psycopg.Connection[Any]


def traces(conn: Connection, user: uuid.UUID, word: str) -> list[str]:
    """Return the tables in which a word still stands among a user's rows."""
    return [
        table
        for table in sorted(tables_with_users(conn))
        if value(
            conn,
            f"select count(*) from recall.{table} as t where t.user_id = %s"
            " and strpos(lower(t::text), lower(%s)) > 0",
            [user, word],
        )
    ]


def remember(conn: Connection, user: uuid.UUID, content: str, **more: Any) -> uuid.UUID:
    return call(conn, "remember", p_user_id=user, p_content=content, **more)[0]["memory_id"]


def contents(conn: Connection, user: uuid.UUID) -> set[str]:
    return {row["content"] for row in call(conn, "get_memories", p_user_id=user)}


def test_every_version_goes(db: Connection, user: uuid.UUID) -> None:
    first = remember(db, user, "I live in Oslo", p_slot="home")
    last = remember(db, user, "I live in Rome", p_slot="home")
    remember(db, user, "I like tea")
    call(db, "record_access", p_user_id=user, p_memory_ids=[last], p_relevance="{0.5}")
    (done,) = call(db, "forget_memory", p_user_id=user, p_memory_id=first)
    assert done["forget_memory"]["counts"]["memory_store"] == 2
    assert traces(db, user, "I live in") == []
    assert contents(db, user) == {"I like tea"}
    for memory in (first, last):
        with refused("RC001"):
            call(db, "forget_memory", p_user_id=user, p_memory_id=memory)
    check_invariants(db)


def test_what_was_made_of_it_goes(db: Connection) -> None:
    """A merge and its other parts, a pattern, a contradiction."""
    world = furnish(db, "marked")
    user = world["user"]
    lease = {"p_user_id": user, "p_job_id": world["merging_job"],
             "p_lease_token": world["merging_token"], "p_result": world["merged"].obj}  # fmt: skip
    assert call(db, "finish_job", **lease) == [{"finish_job": True}]
    (part,) = rows(db, "select memory_id from recall.memory_store where user_id = %s"
                       " and content = 'marked likes thing number 21'", [user])  # fmt: skip
    call(db, "forget_memory", p_user_id=user, p_memory_id=part["memory_id"])
    assert traces(db, user, "thing number 21") == []
    assert traces(db, user, str(part["memory_id"])) == []

    call(db, "forget_memory", p_user_id=user, p_memory_id=world["protected"])
    assert "memory_store" not in traces(db, user, "works at the")
    check_invariants(db)


def test_one_conversation(db: Connection, user: uuid.UUID) -> None:
    gone = open_session(db, user, p_title="zebra", p_system_prompt="You are a zebra.")
    kept = open_session(db, user)
    turns = append(db, user, gone, said("I ride a zebra", "and I like tea"), None, uuid.uuid4())
    (other,) = append(db, user, kept, said("I like tea"))
    call(db, "annotate_message", p_user_id=user, p_session_id=gone, p_turn_index=1,
         p_patch={"zebra": 1})  # fmt: skip
    call(db, "put_working", p_user_id=user, p_session_id=gone, p_task_id="zebra", p_key="k",
         p_value={})  # fmt: skip
    for session, candidates in (
        (gone, [{"content": "I ride a zebra", "source_turn_ids": [str(turns[0][0])]},
                {"content": "I like tea", "source_turn_ids": [str(turns[1][0])]}]),
        (kept, [{"content": "I like tea", "source_turn_ids": [str(other[0])]}]),
    ):  # fmt: skip
        call(db, "ingest_memories", p_user_id=user, p_session_id=session, p_candidates=candidates)

    (done,) = call(db, "forget_session", p_user_id=user, p_session_id=gone)
    counted = done["forget_session"]["counts"]
    assert (counted["conversation_history"], counted["memory_store"]) == (2, 1)
    assert traces(db, user, "zebra") == []
    assert traces(db, user, str(gone)) == []
    assert not rows(db, "select from recall.system_prompts where content like '%%zebra%%'")
    (tea,) = rows(db, "select * from recall.memory_store where user_id = %s", [user])
    assert (tea["content"], tea["source_turn_ids"]) == ("I like tea", [other[0]])
    with refused("RC001"):
        append(db, user, gone, said("still here?"))
    check_invariants(db)


def test_a_fact_that_another_conversation_changed(db: Connection, user: uuid.UUID) -> None:
    """The younger or the older version stays, whichever was said elsewhere."""
    first, second, third = (open_session(db, user) for _ in range(3))
    for session, city in ((first, "Oslo"), (second, "Rome"), (third, "Paris")):
        append(db, user, session, said(f"I live in {city}"))
        remember(db, user, f"I live in {city}", p_slot="home", p_session_id=session)
    call(db, "forget_session", p_user_id=user, p_session_id=second)
    assert traces(db, user, "Rome") == []
    chain = rows(
        db,
        "select content, end_reason, superseded_by is null as is_last"
        " from recall.memory_store where user_id = %s order by created_at",
        [user],
    )
    assert [tuple(row.values()) for row in chain] == [
        ("I live in Oslo", "superseded", False),
        ("I live in Paris", None, True),
    ]
    call(db, "forget_session", p_user_id=user, p_session_id=third)
    (left,) = rows(db, "select content, end_reason from recall.memory_store where user_id = %s",
                   [user])  # fmt: skip
    assert tuple(left.values()) == ("I live in Oslo", "retracted")
    check_invariants(db)


def test_everything_else_stays(db: Connection) -> None:
    mine, theirs = furnish(db, "marked"), furnish(db, "others")
    before = sums(db, theirs["user"])
    call(db, "forget_session", p_user_id=mine["user"], p_session_id=mine["session"])
    call(db, "forget_memory", p_user_id=mine["user"], p_memory_id=mine["memory"])
    assert sums(db, theirs["user"]) == before
    for function, argument in (
        ("forget_session", "p_session_id"),
        ("forget_memory", "p_memory_id"),
    ):
        with refused("RC001"):
            call(db, function, p_user_id=mine["user"], **{argument: theirs[argument[2:-3]]})
    check_invariants(db)


@pytest.mark.concurrent
def test_an_append_that_comes_first(db: Connection, connect: Any, user: uuid.UUID) -> None:
    session = open_session(db, user)
    append(db, user, session, said("first"))
    writer, eraser = connect(autocommit=False), connect()
    append(writer, user, session, said("second"))
    thread = threading.Thread(
        target=call, args=(eraser, "forget_session"),
        kwargs={"p_user_id": user, "p_session_id": session},
    )  # fmt: skip
    thread.start()
    wait_for_lock(db, eraser.info.backend_pid)
    writer.commit()
    thread.join(20)
    assert traces(db, user, str(session)) == []


def test_by_the_driver(dsn: str, user: uuid.UUID) -> None:
    with AgentMemory.connect(dsn, embedder=False) as memory:
        one = memory.remember(user, "I like tea").memory_id
        with memory.session(user=user, model="gpt-4o-mini") as chat:
            chat.append(user="hello")
        assert memory.forget_memory(user, one)["memory_store"] == 1
        assert memory.forget_session(user, chat.session_id)["conversation_history"] == 1
        document = memory.export_user(user)
        assert memory.forget_user(user)["counts"]["users"] == 1
        assert memory.import_user(document)["sessions"] == 0
