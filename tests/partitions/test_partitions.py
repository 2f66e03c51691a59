"""Months: cut in UTC without gaps whatever the time zone, made ahead and on the spot."""

from __future__ import annotations

import random
import time
import uuid
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Any

import psycopg
import pytest

from support import append, call, open_session, raise_errors, refused, rows, said, together, value
from support.invariants import check_invariants
from support.months import leaves, month
from support.servers import TestServer

Connection = psycopg.Connection[Any]
Connect = Callable[..., Connection]

# Zones with a change of clocks at a month's end or beginning, far from UTC, or at odd minutes.
ZONES = ["UTC", "America/New_York", "Pacific/Apia", "Asia/Kathmandu", "Australia/Lord_Howe"]


@pytest.fixture
def small(server: TestServer) -> Iterator[str]:
    """The DSN of an installation with two hash partitions of its own."""
    name = server.create_database("partitions")
    with psycopg.connect(server.dsn(name), autocommit=True) as conn:
        server.install(conn, embedding_dimensions=4, hash_partitions=2, history_months_ahead=1)
    yield server.dsn(name)
    server.drop_database(name)


def test_installation_creates_this_month_and_three_ahead(db: Connection) -> None:
    now = datetime.now(UTC)
    found = leaves(db)
    assert len(found) == 12, "eight leaves of the history, spans of jobs, three of the ledger"
    for bounds in found.values():
        assert bounds == [
            (None, month(now, -12)),
            *((month(now, n), month(now, n + 1)) for n in range(4)),
        ]
    (row,) = rows(db, "select history_from, history_until from recall.settings")
    assert (row["history_from"], row["history_until"]) == (month(now), month(now, 4))


@pytest.mark.slow
def test_thirty_six_months_in_every_time_zone(small: str) -> None:
    """Each month is made by a session of another zone, at an odd moment of the month before."""
    now = datetime.now(UTC)
    chance = random.Random(1)
    with psycopg.connect(small, autocommit=True) as conn:
        for ahead in range(36):
            conn.execute(f"set timezone = '{ZONES[ahead % len(ZONES)]}'".encode())
            conn.execute(f"set datestyle = '{('ISO', 'SQL, DMY', 'German')[ahead % 3]}'".encode())
            moment = chance.choice(
                [month(now, ahead), month(now, ahead + 1) - timedelta(microseconds=1)]
            )
            (row,) = call(conn, "ensure_partitions", p_as_of=moment)
            assert row == {"done": 6 if ahead else 0, "more": False}
            assert call(conn, "ensure_partitions", p_as_of=moment) == [{"done": 0, "more": False}]
        conn.execute("set timezone = 'UTC'")
        conn.execute("set datestyle = 'ISO'")
        for parent, bounds in leaves(conn).items():
            assert bounds == [
                (None, month(now, -12)),
                *((month(now, n), month(now, n + 1)) for n in range(37)),
            ], parent
        check_invariants(conn)
        (row,) = rows(conn, "select history_from, history_until from recall.settings")
        assert (row["history_from"], row["history_until"]) == (month(now), month(now, 37))


@pytest.mark.parametrize("zone", ZONES)
def test_every_border_of_three_years_takes_a_message(
    db: Connection, user: uuid.UUID, zone: str
) -> None:
    """Imports at the first and the last instant of months, and at changes of the clocks."""
    db.execute(f"set timezone = '{zone}'".encode())
    now = datetime.now(UTC)
    instants = [datetime(2024, 3, 10, 6, 59, 59, tzinfo=UTC), datetime(2024, 11, 3, 6, tzinfo=UTC)]
    for back in range(36):
        border = month(now, -back)
        instants += [border, border - timedelta(microseconds=1)]
    session = open_session(db, user)
    db.execute("set datestyle = 'SQL, DMY'")
    for number, instant in enumerate(instants):
        append(db, user, session, said(f"{number}", created_at=instant.isoformat()))
    db.execute("set datestyle = 'ISO'")
    found = call(db, "get_messages", p_user_id=user, p_session_id=session, p_limit=1000)
    assert [row["created_at"].astimezone(UTC) for row in reversed(found)] == instants
    db.execute("set timezone = 'UTC'")
    for bounds in leaves(db).values():
        for (_, end), (start, _) in pairwise(bounds):
            assert start is not None
            assert start >= end, "no overlap"
    check_invariants(db)


def test_more_is_said_when_the_limit_is_reached(small: str) -> None:
    with psycopg.connect(small, autocommit=True) as conn:
        later = month(datetime.now(UTC), 7)
        steps = []
        while True:
            (row,) = call(conn, "ensure_partitions", p_limit=2, p_as_of=later)
            steps.append(row["done"])
            if not row["more"]:
                break
        assert sum(steps) == 12, "two months below six parents"
        assert max(steps) == 2
        assert call(conn, "ensure_partitions", p_limit=0)[0]["done"] == 0
        for limit in (-1, None):
            with refused("RC003", "p_limit"):
                call(conn, "ensure_partitions", p_limit=limit)


def test_maintenance_gives_up_on_a_locked_parent(small: str) -> None:
    """It waits two seconds, no more; what waits behind it would wait as long."""
    later = month(datetime.now(UTC), 7)
    with (
        psycopg.connect(small, autocommit=True) as conn,
        psycopg.connect(small) as holder,
    ):
        holder.execute("lock table recall.conversation_history_p1 in share update exclusive mode")
        started = time.monotonic()
        with pytest.raises(psycopg.errors.LockNotAvailable):
            call(conn, "ensure_partitions", p_as_of=later)
        assert 1.5 < time.monotonic() - started < 10
        holder.rollback()
        assert call(conn, "ensure_partitions", p_as_of=later)[0]["done"] == 12


def test_a_long_reader_stops_nobody(small: str) -> None:
    later = month(datetime.now(UTC), 7)
    user = uuid.uuid4()
    with (
        psycopg.connect(small, autocommit=True) as conn,
        psycopg.connect(small) as reader,
    ):
        session = open_session(conn, user)
        reader.execute("select count(*) from recall.conversation_history")
        append(conn, user, session, said("x", created_at="2020-02-02T00:00:00Z"))
        assert call(conn, "ensure_partitions", p_as_of=later)[0]["done"] == 12


@pytest.mark.concurrent
def test_maintenance_at_once_in_several_sessions(small: str, dsn: str, connect: Connect) -> None:
    later = month(datetime.now(UTC), 9)

    def run() -> int:
        with psycopg.connect(small, autocommit=True) as conn:
            return call(conn, "ensure_partitions", p_as_of=later)[0]["done"]

    results = together([run] * 4)
    raise_errors(results)
    assert sum(results) == 12, "each month was made once"


def test_a_leaf_is_as_closed_as_its_parent(db: Connection, user: uuid.UUID) -> None:
    session = open_session(db, user)
    append(db, user, session, said("x", created_at=month(datetime.now(UTC), -3).isoformat()))
    value(db, "select done from recall.ensure_partitions(p_as_of => now() + interval '5 months')")
    open_ones = rows(
        db,
        """
        select c.oid::regclass::text as leaf
          from pg_class as c
         where c.relnamespace = 'recall'::regnamespace
           and c.relkind in ('r', 'p')
           and c.relispartition
           and (not c.relrowsecurity
                or exists (select from aclexplode(c.relacl) as a
                            where a.grantee <> c.relowner))
        """,
    )
    assert open_ones == []


def months_of_parents(db: Connection) -> dict[str, int]:
    """Return how many months each table of history has."""
    return {
        row["relname"]: row["months"]
        for row in rows(
            db,
            "select c.relname, (select count(*) from recall._month_leaves(c.oid::regclass))"
            " as months from pg_class as c join pg_partitioned_table as p on p.partrelid = c.oid"
            " where c.relnamespace = 'recall'::regnamespace and p.partstrat = 'r'"
            " and c.relname like 'conversation_history%'",
        )
    }


@pytest.mark.slow
def test_many_months_ahead_are_created_by_several_calls(db: Connection) -> None:
    """A call ends in time, with the nearest months of every parent."""
    with db.transaction(force_rollback=True):
        call(db, "configure", p_changes={"history_months_ahead": 120})
        until = "select history_until from recall.settings"
        before = value(db, until)
        there = months_of_parents(db)
        for _ in range(2):
            (answer,) = call(db, "ensure_partitions")
            assert answer["more"]
            assert answer["done"] > 0
            assert value(db, until) > before
            before = value(db, until)
        found = months_of_parents(db)
        made = [found[name] - there[name] for name in found]
        assert max(made) - min(made) <= 1
