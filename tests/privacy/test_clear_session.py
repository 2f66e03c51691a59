"""clear_session erases what a session holds, and keeps the session."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import psycopg
import pytest

from support import (
    append,
    call,
    dialog,
    open_session,
    refused,
    rows,
    session_row,
    value,
    wait_for_lock,
)
from support.everyfunction import furnish

Connection = psycopg.Connection[Any]

STAYS = {"session_id", "status", "title", "metadata", "model_id", "turn_count",
         "user_turn_count", "total_prompt_tokens", "total_cost_microcents", "created_at",
         "system_prompt_hash"}  # fmt: skip


def test_turn_numbers_continue_after_a_clear(db: Connection, user: uuid.UUID) -> None:
    session = open_session(db, user, p_title="Mine")
    append(db, user, session, dialog("a", "b", "c"), {"prompt_tokens": 5})
    before = session_row(db, user, session)
    counts = call(db, "clear_session", p_user_id=user, p_session_id=session)[0]["clear_session"]
    assert counts["counts"]["conversation_history"] == 3
    assert "sessions" not in counts["counts"]
    after = session_row(db, user, session)
    assert {name: after[name] for name in STAYS} == {name: before[name] for name in STAYS}
    assert call(db, "get_messages", p_user_id=user, p_session_id=session) == []
    assert value(db, "select recall.compile_context(%s, %s) -> 'messages'", [user, session]) == []
    made = append(db, user, session, dialog("d"))
    assert [turn for _, turn, _ in made] == [4]
    (found,) = call(db, "get_messages", p_user_id=user, p_session_id=session)
    assert found["content"] == "d"
    document = value(db, "select recall.export_user(%s)", [user])
    call(db, "forget_user", p_user_id=user)
    call(db, "import_user", p_user_id=user, p_document=document)
    call(db, "clear_session", p_user_id=user, p_session_id=session)
    call(db, "clear_session", p_user_id=user, p_session_id=session)
    assert session_row(db, user, session)["active_tokens"] == 0


def test_clear_erases_what_forget_erases(db: Connection) -> None:
    erased = []
    for function in ("forget_session", "clear_session"):
        world = furnish(db, f"mark{uuid.uuid4().hex[:8]}")
        with db.transaction(force_rollback=True):
            (row,) = call(db, function, p_user_id=world["user"], p_session_id=world["session"])
            erased.append(row[function]["counts"])
    assert erased[0].pop("sessions") == 1
    assert erased[0].pop("append_receipts") > 0
    assert erased[0] == erased[1]


def test_clear_of_an_unknown_session_is_refused(db: Connection, user: uuid.UUID) -> None:
    session = open_session(db, user)
    for owner, one in ((user, uuid.uuid4()), (uuid.uuid4(), session)):
        with refused("RC001"):
            call(db, "clear_session", p_user_id=owner, p_session_id=one)


def test_an_append_waits_for_a_clear_and_continues(
    db: Connection, connect: Callable[..., Connection], user: uuid.UUID
) -> None:
    session = open_session(db, user)
    append(db, user, session, dialog("a", "b"))
    eraser = connect(autocommit=False)
    call(eraser, "clear_session", p_user_id=user, p_session_id=session)
    writer = connect()
    writer.execute("set statement_timeout = '300ms'")
    with pytest.raises(psycopg.errors.QueryCanceled):
        append(writer, user, session, dialog("c"))
    eraser.commit()
    made = append(writer, user, session, dialog("c"))
    assert [turn for _, turn, _ in made] == [3]
    assert len(rows(db, "select from recall.conversation_history where session_id = %s",
                    [session])) == 1  # fmt: skip


@pytest.mark.parametrize("level", ["read committed", "repeatable read"])
def test_append_repeated_after_a_clear_stores_nothing(
    db: Connection, user: uuid.UUID, level: str
) -> None:
    session, request = open_session(db, user), uuid.uuid4()
    made = append(db, user, session, dialog("a", "b"), request_id=request)
    call(db, "clear_session", p_user_id=user, p_session_id=session)
    held = rows(db, "select * from recall.append_receipts where user_id = %s", [user])
    assert [(row["payload_digest"], row["from_turn"], row["to_turn"]) for row in held] == [
        (None, 1, 2)
    ]
    for payload in (dialog("a", "b"), dialog("c")):
        with db.transaction():
            db.execute(f"set transaction isolation level {level}".encode())
            again = append(db, user, session, payload, request_id=request)
        assert again == [(None, turn, False) for _, turn, _ in made]
    assert call(db, "get_messages", p_user_id=user, p_session_id=session) == []
    assert [turn for _, turn, _ in append(db, user, session, dialog("d"))] == [3]
    call(db, "close_session", p_user_id=user, p_session_id=session)
    assert append(db, user, session, dialog("a"), request_id=request) == again


def test_append_that_waits_for_a_clear_stores_nothing_again(
    db: Connection, connect: Callable[..., Connection], user: uuid.UUID
) -> None:
    session, request = open_session(db, user), uuid.uuid4()
    append(db, user, session, dialog("a"), request_id=request)
    eraser, writer = connect(), connect()
    with ThreadPoolExecutor(1) as pool:
        with eraser.transaction():
            call(eraser, "clear_session", p_user_id=user, p_session_id=session)
            waiting = pool.submit(append, writer, user, session, dialog("a"), request_id=request)
            wait_for_lock(db, writer.info.backend_pid)
        assert waiting.result() == [(None, 1, False)]
    assert call(db, "get_messages", p_user_id=user, p_session_id=session) == []


@pytest.mark.parametrize("erased", ["retracted", "popped", "retention", "forgotten"])
def test_append_repeated_after_another_erasure_stores_nothing(
    db: Connection, user: uuid.UUID, erased: str
) -> None:
    session, request = open_session(db, user), uuid.uuid4()
    made = append(db, user, session, dialog("a", "b"), request_id=request)
    match erased:
        case "retracted":
            call(db, "retract_turns", p_user_id=user, p_session_id=session, p_from_turn=1)
        case "popped":
            call(db, "pop_turns", p_user_id=user, p_session_id=session, p_limit=2)
        case "retention":
            call(db, "close_session", p_user_id=user, p_session_id=session)
            db.execute("update recall.sessions set first_retained_turn = 3, active_tokens = 0"
                       " where session_id = %s", [session])  # fmt: skip
            db.execute("delete from recall.conversation_history where session_id = %s", [session])
            made = [(None, turn, inserted) for _, turn, inserted in made]
        case "forgotten":
            call(db, "forget_session", p_user_id=user, p_session_id=session)
            with refused("RC001"):
                append(db, user, session, dialog("a", "b"), request_id=request)
            return
    again = append(db, user, session, dialog("a", "b"), request_id=request)
    assert again == [(one, turn, False) for one, turn, _ in made]
    assert call(db, "get_messages", p_user_id=user, p_session_id=session) == []
