"""Many writers at once: turns stay dense, requests are answered once, missing months heal."""

from __future__ import annotations

import random
import threading
import time
import uuid
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
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
    session_row,
    together,
    value,
)

pytestmark = pytest.mark.concurrent

Connection = psycopg.Connection[Any]
Connect = Callable[..., Connection]


class Abandoned(Exception):  # noqa: N818
    """A writer changes its mind."""


def history(db: Connection, user: uuid.UUID, session: uuid.UUID) -> list[dict[str, Any]]:
    return rows(
        db,
        "select * from recall.conversation_history where user_id = %s and session_id = %s"
        " order by turn_index",
        [user, session],
    )


def test_appends_of_six_writers_with_rollbacks_leave_no_gap(
    db: Connection, connect: Connect, user: uuid.UUID
) -> None:
    session = open_session(db, user)

    def write(number: int) -> list[list[tuple[uuid.UUID, int, bool]]]:
        conn = connect(autocommit=False)
        chance = random.Random(number)
        kept = []
        for round_ in range(30):
            batch = said(*(f"{number}/{round_}/{n}" for n in range(chance.randint(1, 4))))
            try:
                with conn.transaction():
                    answered = append(conn, user, session, batch, {"prompt_tokens": 1})
                    if chance.random() < 0.1:
                        time.sleep(0.01)
                    if chance.random() < 0.3:
                        raise Abandoned
            except Abandoned:
                continue
            kept.append(answered)
        return kept

    results = together(partial(write, number) for number in range(6))
    raise_errors(results)
    batches = [batch for result in results for batch in result]
    turns = sorted(turn for batch in batches for _, turn, _ in batch)
    assert turns == list(range(1, len(turns) + 1)), "dense, each given out once"
    for batch in batches:
        first = batch[0][1]
        assert [turn for _, turn, _ in batch] == list(range(first, first + len(batch)))
    found = history(db, user, session)
    assert [row["turn_index"] for row in found] == turns
    assert {row["message_id"] for row in found} == {m for batch in batches for m, _, _ in batch}
    assert [row["created_at"] for row in found] == sorted(row["created_at"] for row in found)
    row = session_row(db, user, session)
    assert (row["turn_count"], row["total_prompt_tokens"]) == (len(turns), len(batches))


def test_append_with_same_request_id_at_once_stores_once(
    db: Connection, connect: Connect, user: uuid.UUID
) -> None:
    session = open_session(db, user)
    connections = [connect() for _ in range(4)]
    for _ in range(20):
        request, batch = uuid.uuid4(), said("q", "a")
        results = together(
            partial(append, conn, user, session, batch, {"prompt_tokens": 1}, request)
            for conn in connections
        )
        raise_errors(results)
        assert sorted(answer[0][2] for answer in results) == [False, False, False, True]
        assert len({tuple((m, t) for m, t, _ in answer) for answer in results}) == 1
    assert session_row(db, user, session)["turn_count"] == 40
    assert session_row(db, user, session)["total_prompt_tokens"] == 20


def test_append_with_same_request_id_and_another_payload_at_once_is_refused(
    db: Connection, connect: Connect, user: uuid.UUID
) -> None:
    session = open_session(db, user)
    connections = [connect() for _ in range(4)]
    request = uuid.uuid4()
    results = together(
        partial(append, conn, user, session, said(f"payload {n}"), None, request)
        for n, conn in enumerate(connections)
    )
    refusals = [result for result in results if isinstance(result, psycopg.Error)]
    assert [error.sqlstate for error in refusals] == ["RC008"] * 3
    assert session_row(db, user, session)["turn_count"] == 1


def test_append_that_waited_for_a_rolled_back_twin_is_stored(
    db: Connection, connect: Connect, user: uuid.UUID
) -> None:
    session = open_session(db, user)
    request = uuid.uuid4()
    first, second = connect(autocommit=False), connect()
    append(first, user, session, said("x"), None, request)
    answer: list[Any] = []
    twin = threading.Thread(
        target=lambda: answer.extend(append(second, user, session, said("x"), None, request))
    )
    twin.start()
    time.sleep(0.2)
    assert not answer, "it waits for the first one's end"
    first.rollback()
    twin.join()
    assert [(turn, inserted) for _, turn, inserted in answer] == [(1, True)]


def test_request_repeated_after_the_end_of_a_month_is_stored_once(
    db: Connection, connect: Connect, user: uuid.UUID
) -> None:
    """The receipt names the messages, whichever months they are in."""
    session = open_session(db, user)
    request = uuid.uuid4()
    batch = [
        *said("before", created_at="2024-02-29T23:59:59.999999Z"),
        *said("after", created_at="2024-03-01T00:00:00Z"),
        *said("now"),
    ]
    connections = [connect() for _ in range(4)]
    results = together(
        partial(append, conn, user, session, batch, None, request) for conn in connections
    )
    raise_errors(results)
    assert sum(answer[0][2] for answer in results) == 1
    assert {tuple(turn for _, turn, _ in answer) for answer in results} == {(1, 2, 3)}
    leaves = rows(
        db,
        "select distinct tableoid::regclass::text as leaf from recall.conversation_history"
        " where user_id = %s",
        [user],
    )
    assert len(leaves) >= 2


# --- a month that is missing


def leaf_of(db: Connection, user: uuid.UUID) -> str:
    """Return the monthly leaf that a message of this moment goes to."""
    return value(
        db,
        "select l.leaf::text from recall._month_leaves("
        "recall._hash_leaf('recall.conversation_history', %s)) as l"
        " where l.lower_bound <= now() and now() < l.upper_bound",
        [user],
    )


def take_away(db: Connection, user: uuid.UUID, how: str) -> None:
    """Take the current month's leaf of a user away; all conversations of all users go first."""
    leaf = leaf_of(db, user)
    parent = leaf.rpartition("_y")[0]
    db.execute("truncate recall.conversation_history, recall.sessions")
    if how == "drop":
        db.execute(f"drop table {leaf}")
    else:
        db.execute(f"alter table {parent} detach partition {leaf}")


@pytest.mark.parametrize("how", ["drop", "detach"])
def test_append_creates_a_missing_month(db: Connection, user: uuid.UUID, how: str) -> None:
    take_away(db, user, how)
    session = open_session(db, user)
    request = uuid.uuid4()
    first = append(db, user, session, said("a", "b"), {"prompt_tokens": 5}, request)
    assert [turn for _, turn, _ in first] == [1, 2]
    assert append(db, user, session, said("c"))[0][1] == 3
    assert len(history(db, user, session)) == 3
    assert session_row(db, user, session)["total_prompt_tokens"] == 5
    (leaf,) = rows(db, "select relrowsecurity from pg_class where oid = %s::regclass",
                   [leaf_of(db, user)])  # fmt: skip
    assert leaf["relrowsecurity"]


@pytest.mark.parametrize("how", ["drop", "detach"])
def test_concurrent_appends_create_a_missing_month_once(
    db: Connection, connect: Connect, user: uuid.UUID, how: str
) -> None:
    """The same leaf for all: one makes it, the others wait and find it."""
    connections = [connect() for _ in range(6)]
    for _ in range(5):
        take_away(db, user, how)
        sessions = [open_session(db, user) for _ in connections]
        results = together(
            partial(append, conn, user, session, said("x", "y"))
            for conn, session in zip(connections, sessions, strict=True)
        )
        raise_errors(results)
        for session in sessions:
            assert [row["content"] for row in history(db, user, session)] == ["x", "y"]


def test_concurrent_imports_create_an_old_month_once(
    db: Connection, connect: Connect, user: uuid.UUID
) -> None:
    """Between the leaf for all that is old and the month of installation there is nothing yet."""
    connections = [connect() for _ in range(6)]
    sessions = [open_session(db, user) for _ in connections]
    now = datetime.now(UTC)
    for back in range(1, 6):
        month = f"{(now.year * 12 + now.month - 1 - back) // 12:04}"
        month += f"-{(now.month - 1 - back) % 12 + 1:02}-15T00:00:00Z"
        results = together(
            partial(append, conn, user, session, said("old", created_at=month))
            for conn, session in zip(connections, sessions, strict=True)
        )
        raise_errors(results)
    for session in sessions:
        assert len(history(db, user, session)) == 5


def test_maintenance_and_appends_create_months_at_once(db: Connection, connect: Connect) -> None:
    users = [uuid.uuid4() for _ in range(5)]
    for user in users:
        if _has_leaf(db, user):
            take_away(db, user, "drop")
    sessions = [open_session(db, user) for user in users]
    connections = [connect() for _ in users]
    maintenance = connect()
    results = together(
        [
            partial(call, maintenance, "ensure_partitions"),
            *(
                partial(append, conn, user, session, said("x"))
                for conn, user, session in zip(connections, users, sessions, strict=True)
            ),
        ]
    )
    raise_errors(results)
    assert all(
        len(history(db, user, session)) == 1 for user, session in zip(users, sessions, strict=True)
    )
    db.execute("select * from recall.ensure_partitions()")


def _has_leaf(db: Connection, user: uuid.UUID) -> bool:
    """Another user of the same hash leaf may have lost it already."""
    return bool(
        db.execute(
            "select 1 from recall._month_leaves("
            "recall._hash_leaf('recall.conversation_history', %s)) as l"
            " where l.lower_bound <= now() and now() < l.upper_bound",
            [user],
        ).fetchone()
    )


# --- the rest of a session's life, at once


def test_open_session_creates_a_session_and_user_once_for_concurrent_callers(
    connect: Connect, db: Connection
) -> None:
    connections = [connect() for _ in range(6)]
    for n in range(5):
        name, wanted = f"together {uuid.uuid4()}", uuid.uuid4()
        user = value(db, "select recall.user_id(%s)", [name])
        results = together(
            [
                *(
                    partial(open_session, conn, user, p_session_id=wanted)
                    for conn in connections[:3]
                ),
                *(
                    partial(call, conn, "ensure_user", p_external_id=name, p_metadata={"n": n})
                    for conn in connections[3:5]
                ),
                partial(
                    value,
                    connections[5],
                    "select recall._lock_user_and_bump_revision(%s)",
                    [user],
                ),
            ]
        )  # fmt: skip
        raise_errors(results)
        assert results[:3] == [wanted] * 3
        (row,) = rows(db, "select * from recall.users where user_id = %s", [user])
        assert (row["external_id"], row["metadata"]) == (name, {"n": n})


def test_concurrent_appends_retractions_and_reads_see_no_gap_or_deadlock(
    db: Connection, connect: Connect, user: uuid.UUID
) -> None:
    """Nobody sees a gap, nobody deadlocks, and the counters are right at the end."""
    session = open_session(db, user)
    append(db, user, session, said("first"))
    until = time.monotonic() + 2

    def over_and_over(work: Callable[[Connection, random.Random], Any]) -> Callable[[], int]:
        def run() -> int:
            conn, chance, done = connect(), random.Random(), 0
            while time.monotonic() < until:
                work(conn, chance)
                done += 1
            return done

        return run

    def write(conn: Connection, chance: random.Random) -> None:
        append(conn, user, session, said(*"ab"[: chance.randint(1, 2)]), {"prompt_tokens": 1})

    def retract(conn: Connection, chance: random.Random) -> None:
        last = session_row(conn, user, session)["turn_count"]
        call(conn, "retract_turns", p_user_id=user, p_session_id=session,
             p_from_turn=max(1, last - chance.randint(0, 3)))  # fmt: skip
        time.sleep(0.01)

    def change(conn: Connection, chance: random.Random) -> None:
        call(conn, "update_session", p_user_id=user, p_session_id=session,
             p_changes={"title": str(chance.random())})  # fmt: skip
        call(conn, "annotate_message", p_user_id=user, p_session_id=session, p_turn_index=1,
             p_patch={"k": chance.random()})  # fmt: skip

    def read(conn: Connection, chance: random.Random) -> None:
        found = call(conn, "get_messages", p_user_id=user, p_session_id=session, p_limit=1000)
        times = [row["created_at"] for row in found]
        assert times == sorted(times, reverse=True)

    results = together(over_and_over(work) for work in (write, write, retract, change, read))
    raise_errors(results)
    assert all(done > 5 for done in results), results


def test_append_of_a_terminated_writer_leaves_nothing(
    db: Connection, connect: Connect, user: uuid.UUID
) -> None:
    session = open_session(db, user)
    request = uuid.uuid4()
    doomed = connect(autocommit=False)
    append(doomed, user, session, said("lost"), None, request)
    value(db, "select pg_terminate_backend(%s, 5000)", [doomed.info.backend_pid])
    with pytest.raises(psycopg.OperationalError):
        doomed.execute("commit")
    assert append(db, user, session, said("lost"), None, request)[0][1:] == (1, True)
