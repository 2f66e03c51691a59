"""Updates of rows that are counted or touched on the way stay within their page (HOT).

An index that names such a column, or a page without room, would cost every update an entry in each
index: with one on updated_at 0 of 365 session updates were HOT.
"""

from __future__ import annotations

import random
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

import psycopg
import pytest

from support import append, call, open_session, rows, said, session_row, value

Connection = psycopg.Connection[Any]
UPDATES = 300


@contextmanager
def hot_updates(conn: Connection, table: str, at_least: int) -> Iterator[None]:
    """Expect updates of a table's leaves here, nine in ten of them HOT."""

    def counted() -> tuple[int, int]:
        conn.execute("select pg_stat_force_next_flush()")
        conn.execute("select pg_stat_clear_snapshot()")
        (row,) = rows(
            conn,
            "select coalesce(sum(n_tup_upd), 0)::int as updated,"
            " coalesce(sum(n_tup_hot_upd), 0)::int as hot"
            " from pg_stat_user_tables where schemaname = 'recall' and relname like %s",
            [rf"{table}\_p%"],
        )
        return row["updated"], row["hot"]

    before = counted()
    yield
    after = counted()
    updated, hot = after[0] - before[0], after[1] - before[1]
    assert updated >= at_least
    assert hot >= 0.9 * updated, f"{hot} of {updated} updates of {table} were HOT"


@pytest.fixture(scope="module", autouse=True)
def undisturbed(dsn: str) -> Iterator[None]:
    """No autovacuum here: while its snapshot lasts, old versions stay on their page and fill it.

    It is off for the server, since an analysis of the catalog has a snapshot, too.
    """
    with psycopg.connect(dsn, autocommit=True) as conn:
        conn.execute("alter system set autovacuum = off")
        conn.execute("select pg_reload_conf()")
        while value(conn, "select count(*) from pg_stat_activity"
                          " where backend_type = 'autovacuum worker'"):  # fmt: skip
            time.sleep(0.05)
        yield
        conn.execute("alter system reset autovacuum")
        conn.execute("select pg_reload_conf()")


def test_appends_update_their_session_within_its_page(db: Connection, user: uuid.UUID) -> None:
    """Every append updates its session: counters, costs, times, the sliding end of its life."""
    session = open_session(db, user)
    with hot_updates(db, "sessions", UPDATES):
        for number in range(UPDATES):
            append(db, user, session, said(f"message {number}"), {"prompt_tokens": 5})
    assert session_row(db, user, session)["turn_count"] == UPDATES


def test_appends_to_many_sessions_on_shared_pages(db: Connection, user: uuid.UUID) -> None:
    sessions = [open_session(db, user) for _ in range(60)]
    with hot_updates(db, "sessions", UPDATES):
        for number in range(UPDATES):
            append(db, user, sessions[number % 60], said("x"))


def test_import_message_by_message_updates_within_the_page(db: Connection, user: uuid.UUID) -> None:
    """The first message moves created_at, which an index names; the others do not."""
    session = open_session(db, user)
    start = datetime(2023, 1, 1, tzinfo=UTC)
    with hot_updates(db, "sessions", 100):
        for number in range(100):
            moment = (start + timedelta(hours=number)).isoformat()
            append(db, user, session, said("x", created_at=moment))


def test_usage_of_jobs_updates_their_session_within_its_page(
    db: Connection, user: uuid.UUID
) -> None:
    """A job adds its usage to its session, whatever becomes of it."""
    session = open_session(db, user)
    span = {"phase": "merge", "duration_ms": 1, "prompt_tokens": 5, "cost_microcents": 2}
    with hot_updates(db, "sessions", 100):
        for _ in range(100):
            call(db, "enqueue_job", p_user_id=user, p_kind="merge", p_session_id=session)
            (job,) = call(db, "claim_jobs", p_worker="test", p_kinds=["merge"])
            call(db, "fail_job", p_user_id=user, p_job_id=job["job_id"], p_error="boom",
                 p_lease_token=job["lease_token"], p_retry=False, p_phases=[span])  # fmt: skip
    assert session_row(db, user, session)["total_cost_microcents"] == 200


def test_writes_of_memories_update_the_user_within_its_page(
    db: Connection, user: uuid.UUID
) -> None:
    """Every writer of memories takes the user's row by an update."""
    with hot_updates(db, "users", UPDATES):
        for number in range(UPDATES):
            call(db, "remember", p_user_id=user, p_content=f"Ada has the number {number}.")


def test_accesses_are_counted_within_the_page(db: Connection, user: uuid.UUID) -> None:
    """A context packs ten memories out of three hundred, again and again."""
    chance = random.Random(1)
    made = [
        call(db, "remember", p_user_id=user, p_content=f"Ada has the number {n}.")[0]["memory_id"]
        for n in range(300)
    ]
    with hot_updates(db, "memory_store", UPDATES):
        for _ in range(UPDATES // 10):
            call(db, "record_access", p_user_id=user, p_memory_ids=chance.sample(made, 10),
                 p_relevance=f"{{{','.join(['0.5'] * 10)}}}")  # fmt: skip
            (row,) = call(db, "flush_access_log")
            assert row["done"] >= 10
    (total,) = rows(db, "select sum(access_count)::int as n from recall.memory_store"
                        " where user_id = %s", [user])  # fmt: skip
    assert total["n"] == UPDATES
