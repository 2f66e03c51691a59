"""pop_turns retracts the newest turns and returns them."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from typing import Any

import psycopg
import pytest

from support import append, call, dialog, open_session, refused, together

Connection = psycopg.Connection[Any]


@pytest.fixture
def session(db: Connection, user: uuid.UUID) -> uuid.UUID:
    return open_session(db, user)


def pop(conn: Connection, user: uuid.UUID, session: uuid.UUID, limit: int = 1) -> list[str]:
    found = call(conn, "pop_turns", p_user_id=user, p_session_id=session, p_limit=limit)
    return [row["content"] for row in found]


def left(conn: Connection, user: uuid.UUID, session: uuid.UUID) -> list[str]:
    found = call(conn, "get_messages", p_user_id=user, p_session_id=session)
    return [row["content"] for row in found]


def test_pop_returns_the_newest_turns(db: Connection, user: uuid.UUID, session: uuid.UUID) -> None:
    assert pop(db, user, session) == []
    append(db, user, session, dialog("a", "b", "c", "d"))
    assert pop(db, user, session, 0) == []
    assert pop(db, user, session) == ["d"]
    assert pop(db, user, session, 2) == ["c", "b"]
    append(db, user, session, dialog("e"))
    assert pop(db, user, session, 9) == ["e", "a"]
    assert pop(db, user, session) == left(db, user, session) == []
    with refused("RC003"):
        pop(db, user, session, -1)
    with refused("RC001"):
        pop(db, user, uuid.uuid4())
    with refused("RC001"):
        pop(db, uuid.uuid4(), session)


def test_compacted_turns_are_not_popped(
    db: Connection, user: uuid.UUID, session: uuid.UUID
) -> None:
    append(db, user, session, dialog("a", "b", "c"))
    with db.transaction(force_rollback=True):
        db.execute(
            "update recall.sessions set compacted_through_turn = 2 where session_id = %s",
            [session],
        )
        assert pop(db, user, session, 5) == ["c"]
        assert pop(db, user, session, 5) == []


@pytest.mark.concurrent
def test_eight_callers_pop_twenty_turns_once_each(
    db: Connection, connect: Callable[..., Connection], user: uuid.UUID, session: uuid.UUID
) -> None:
    append(db, user, session, dialog(*(str(n) for n in range(20))))
    connections = [connect() for _ in range(8)]

    def drain(conn: Connection) -> list[str]:
        popped: list[str] = []
        while found := pop(conn, user, session):
            popped += found
        return popped

    results = together([lambda conn=conn: drain(conn) for conn in connections])
    assert sorted(int(n) for popped in results for n in popped) == list(range(20))


@pytest.mark.concurrent
def test_pop_of_an_older_snapshot_fails(
    db: Connection, connect: Callable[..., Connection], user: uuid.UUID, session: uuid.UUID
) -> None:
    append(db, user, session, dialog("a", "b"))
    other = connect(autocommit=False)
    other.execute("set transaction isolation level repeatable read")
    assert left(other, user, session) == ["b", "a"]
    assert pop(db, user, session) == ["b"]
    with refused("40001"):
        pop(other, user, session)
