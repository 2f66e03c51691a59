"""Working memory: values of a task that live for an hour."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import psycopg
import pytest
from psycopg.types.json import Jsonb

from support import call, open_session, raise_errors, refused, rows, together, value

Connection = psycopg.Connection[Any]
Connect = Callable[..., Connection]


@pytest.fixture
def session(db: Connection, user: uuid.UUID) -> uuid.UUID:
    return open_session(db, user)


def put(conn: Connection, user: uuid.UUID, session: uuid.UUID, **more: Any) -> None:
    arguments = {"p_task_id": "trip", "p_key": "city", "p_value": Jsonb("Rome")} | more
    call(conn, "put_working", p_user_id=user, p_session_id=session, **arguments)


def get(
    conn: Connection, user: uuid.UUID, session: uuid.UUID, key: str | None = None,
    task: str = "trip",
) -> Any:  # fmt: skip
    return value(conn, "select recall.get_working(%s, %s, %s, %s)", [user, session, task, key])


def test_get_working_returns_the_values_put(
    db: Connection, user: uuid.UUID, session: uuid.UUID
) -> None:
    assert get(db, user, session) == {}
    assert get(db, user, session, "city") is None
    put(db, user, session)
    put(db, user, session, p_key="days", p_value=Jsonb([1, {"a": None}]))
    put(db, user, session, p_key="nothing", p_value=Jsonb(None))
    put(db, user, session, p_task_id="other", p_value=Jsonb(7))
    assert get(db, user, session) == {"city": "Rome", "days": [1, {"a": None}], "nothing": None}
    assert get(db, user, session, "days") == [1, {"a": None}]
    assert get(db, user, session, task="other") == {"city": 7}


def test_a_write_renews_and_a_read_does_not(
    db: Connection, user: uuid.UUID, session: uuid.UUID
) -> None:
    put(db, user, session, p_ttl="300 milliseconds")
    before = rows(db, "select * from recall.working_memory where user_id = %s", [user])
    assert get(db, user, session) == {"city": "Rome"}
    assert rows(db, "select * from recall.working_memory where user_id = %s", [user]) == before
    time.sleep(0.4)
    assert get(db, user, session) == {}
    assert get(db, user, session, "city") is None, "expired is gone, swept or not"
    put(db, user, session, p_value=Jsonb("Oslo"))
    assert get(db, user, session) == {"city": "Oslo"}
    (row,) = rows(db, "select * from recall.working_memory where user_id = %s", [user])
    assert row["expires_at"] - row["updated_at"] == timedelta(hours=1)


def test_working_values_have_given_or_estimated_token_counts(
    db: Connection, user: uuid.UUID, session: uuid.UUID
) -> None:
    put(db, user, session, p_token_count=3)
    put(db, user, session, p_key="long", p_value=Jsonb("x y z " * 100))
    counts = rows(
        db, "select key, token_count from recall.working_memory where user_id = %s order by key",
        [user],
    )  # fmt: skip
    assert counts[0] == {"key": "city", "token_count": 3}
    assert counts[1]["token_count"] > 300


def test_clear_working_counts_what_it_deletes(
    db: Connection, user: uuid.UUID, session: uuid.UUID
) -> None:
    for task in ("trip", "trip2", "trip3"):
        put(db, user, session, p_task_id=task)
    arguments = {"p_user_id": user, "p_session_id": session}
    assert call(db, "clear_working", **arguments, p_task_id="trip") == [{"clear_working": 1}]
    assert get(db, user, session) == {}
    assert call(db, "clear_working", **arguments) == [{"clear_working": 2}]
    assert call(db, "clear_working", **arguments) == [{"clear_working": 0}]


def test_closing_the_session_clears_it(db: Connection, user: uuid.UUID, session: uuid.UUID) -> None:
    put(db, user, session)
    call(db, "close_session", p_user_id=user, p_session_id=session)
    assert get(db, user, session) == {}
    with refused("RC002"):
        put(db, user, session)


def test_working_memory_shows_nothing_of_another_user(
    db: Connection, user: uuid.UUID, session: uuid.UUID
) -> None:
    put(db, user, session)
    other = uuid.uuid4()
    own = open_session(db, other)
    assert get(db, other, own) == {}
    for stranger in (session, uuid.uuid4()):
        with refused("RC001"):
            get(db, other, stranger)
        with refused("RC001"):
            put(db, other, stranger)
        with refused("RC001"):
            call(db, "clear_working", p_user_id=other, p_session_id=stranger)
    assert get(db, user, session) == {"city": "Rome"}


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"p_task_id": ""}, "p_task_id"),
        ({"p_task_id": None}, "p_task_id"),
        ({"p_task_id": "t" * 201}, "p_task_id"),
        ({"p_key": ""}, "p_key"),
        ({"p_key": None}, "p_key"),
        ({"p_value": None}, "p_value is null"),
        ({"p_value": Jsonb("x" * 1_100_000)}, "p_value has 11000"),
        ({"p_ttl": "0 seconds"}, "p_ttl"),
        ({"p_ttl": "-1 hour"}, "p_ttl"),
        ({"p_token_count": -1}, "p_token_count"),
    ],
)
def test_bad_values_are_refused(
    db: Connection, user: uuid.UUID, session: uuid.UUID, arguments: dict[str, Any], words: str
) -> None:
    with refused("RC003", words):
        put(db, user, session, **arguments)
    assert get(db, user, session) == {}


def test_expired_values_are_swept(db: Connection, user: uuid.UUID, session: uuid.UUID) -> None:
    db.execute("delete from recall.working_memory")
    for number in range(5):
        put(db, user, session, p_key=f"k{number}", p_ttl="1 hour")
    put(db, user, session, p_key="stays", p_ttl="1 day")
    assert call(db, "expire_working") == [{"done": 0, "more": False}]
    later = datetime.now(UTC) + timedelta(hours=2)
    assert call(db, "expire_working", p_limit=3, p_as_of=later) == [{"done": 3, "more": True}]
    assert call(db, "expire_working", p_as_of=later) == [{"done": 2, "more": False}]
    assert get(db, user, session) == {"stays": "Rome"}
    with refused("RC003"):
        call(db, "expire_working", p_limit=-1)


def test_working_memory_and_access_log_are_unlogged(db: Connection) -> None:
    kinds = rows(
        db, "select relname, relpersistence::text from pg_class where relname in"
            " ('working_memory', 'memory_access_log') order by relname",
    )  # fmt: skip
    assert [row["relpersistence"] for row in kinds] == ["u", "u"]


@pytest.mark.concurrent
def test_concurrent_writers_of_a_task_store_every_key(
    db: Connection, connect: Connect, user: uuid.UUID, session: uuid.UUID
) -> None:
    connections = [connect() for _ in range(6)]

    def write(number: int) -> None:
        for round_ in range(20):
            put(connections[number], user, session, p_key=f"k{round_ % 3}",
                p_value=Jsonb(number))  # fmt: skip

    raise_errors(together(lambda number=number: write(number) for number in range(6)))
    assert set(get(db, user, session)) == {"k0", "k1", "k2"}
