"""No call takes more relation locks than a busy server can afford.

The lock table holds max_locks_per_transaction × max_connections entries, 6,400 by default, and a
generic plan over all leaves and months takes hundreds of them.
"""

from __future__ import annotations

import re
import statistics
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest

from support import call, finding, value
from support.everyfunction import CALLS, NOT_HERE, Call, World, furnish, public_functions

Connection = psycopg.Connection[Any]

PLANNING = 250
"""The call that builds a plan may take so many."""
WARM = 64
"""Every later one, from the seventh on, so many."""

ALL_MONTHS = {
    "list_job_phases",
    "list_sealed_rows",
    "export_user",
    "export_user_pieces",
    "forget_memory",
    "clear_session",
    "forget_session",
    "forget_user",
    "import_user",
}
"""Have to reach every table and every month, and are rare: they may take twice as many."""

WHOLE = {"run_due_maintenance", "metrics"}
"""All tasks in one transaction, each of which is measured for itself; all gauges of all users."""

OVER = {
    "next_request embed": 6,
    "next_request llm": 2,
    "next_request embed end": 50,
    "next_request extract end": 14,
    "next_request llm end": 24,
    "next_request compact end": 2,
    "close_session": 2,
    "pop_turns": 6,
    "resolve_dispute accepted": 10,
    "revoke_source": 13,
    "search_sessions hybrid": 6,
    "compile_context everything": 2,
    "compile_context split, recalled": 8,
    "health": 26,
    "purge_expired": 50,
    "estimate_embedding_migration": 70,
}
"""What each of these calls locks beyond the others:

- A request for vectors reads the session, its messages, and memories and summaries without one. The
  last answer stores vectors in all of these, and counted tokens in memories.
- An extraction with decisions searches for similar memories. At its end, triggers read the user's
  settings and keys, the head of the user's events, and hashes of changed memories.
- A verbatim extraction reads the phrases that tell statements apart, and the user's keys.
- A search of sessions reads the turns that it found, beside titles and summaries.
- A context reads the phrases that tell whether its query is about the author. With recalled turns
  it searches memories and turns, and reads history.
- `health` reads the catalog, disputes, pg_cron, subscriptions, sampled recall and other databases.
- `purge_expired` scans eight kinds of rows, of all users.
- An estimate of a change of the embedding model counts all texts, and reads the tokens of messages
  in the history.
- A session whose compaction is due enqueues it when it closes.
- To accept a dispute reads in the audit whether it asks to retract.
- A retraction deletes search rows, and their words.
- A revocation reads the audit for copies of the revoked texts.
- A decision that retracts discards the state of the user's jobs.
"""

PLANNED_OVER = {
    "next_request llm end": 90, "next_request embed end": 96, "apply_decisions": 15,
    "forget_session": 26, "clear_session": 26, "import_user": 20,
}  # fmt: skip
"""The first call of a connection that ends an extraction builds the plans of searching, deciding
and storing at once. Decisions build those of all their kinds, and of discarding the state of
jobs. The end of an embed job also builds that of storing counted tokens and words. An erasure
builds those of deleting from every table, the call of an import those of an export, too."""

SWEEPS = {
    "expire_memories", "enqueue_missing_embeddings", "purge_expired",
    "estimate_embedding_migration",
}  # fmt: skip
"""One call at a time, in the background, over all leaves: they may take twice as many."""

MONTHS = 16


@pytest.fixture(scope="module")
def world(dsn: str) -> Iterator[World]:
    """A user with sixteen months of leaves behind eight hash partitions."""
    with psycopg.connect(dsn, autocommit=True) as conn:
        for ahead in range(0, MONTHS, 4):
            conn.execute(
                "select recall.ensure_partitions(p_as_of => now() + make_interval(months => %s))",
                [ahead],
            )
        leaves = value(conn, "select count(*) from recall._month_leaves("
                             "'recall.conversation_history_p0')")  # fmt: skip
        assert leaves >= MONTHS
        found = furnish(conn, "marked")
        conn.execute("analyze")
        yield found


def relation_locks(db: Connection, conn: Connection, asked: Call, world: World) -> int:
    """Run a call in a transaction that is rolled back; return the relation locks it holds."""
    with conn.transaction(force_rollback=True):
        conn.execute(asked.query.encode(), world).fetchall()
        return value(
            db,
            "select count(*) from pg_locks where locktype = 'relation' and pid = %s",
            [conn.info.backend_pid],
        )


@pytest.mark.parametrize("asked", [asked for asked in CALLS if str(asked) not in WHOLE], ids=str)
def test_each_call_takes_a_bounded_number_of_locks(
    db: Connection, dsn: str, world: World, asked: Call, record_property: Any
) -> None:
    # generic plans are built on the sixth execution at the latest
    with psycopg.connect(dsn, autocommit=True) as conn:
        counts = [relation_locks(db, conn, asked, world) for _ in range(12)]
    record_property("relation locks", counts)
    is_whole = asked.function in ALL_MONTHS
    times = 2 if str(asked) in SWEEPS or is_whole else 1
    more = OVER.get(str(asked), 0)
    warm = times * (PLANNING if is_whole else WARM) + more
    assert max(counts) <= times * PLANNING + max(more, PLANNED_OVER.get(str(asked), 0)), counts
    # an autovacuum in between has plans built anew, once or twice
    assert statistics.median(counts[6:]) <= warm, counts


def test_health_estimates_the_locks_of_first_calls(db: Connection, dsn: str, world: World) -> None:
    """No call of a turn locks more; the largest locks nearly as many. Months change nothing."""
    detail = finding(db, "locks")[1]
    (estimate,) = re.findall(r"lock up to (\d+) each", detail)
    counts = {}
    for asked in CALLS:
        if asked.function in {"search", "search_messages", "search_sessions", "compile_context",
                              "append_messages", "remember", "supersede_memory", "open_session",
                              "next_request", "claim_jobs", "get_messages"}:  # fmt: skip
            with (
                psycopg.connect(dsn, autocommit=True) as conn,
                conn.transaction(force_rollback=True),
            ):
                conn.execute(asked.query.encode(), world).fetchall()
                counts[str(asked)] = value(
                    db,
                    "select count(distinct (database, relation)) from pg_locks"
                    " where locktype = 'relation' and pid = %s",
                    [conn.info.backend_pid],
                )
    assert int(estimate) * 0.95 <= max(counts.values()) <= int(estimate), counts


def test_every_function_is_called(db: Connection) -> None:
    assert {asked.function for asked in CALLS} | (NOT_HERE & public_functions(db)) == (
        public_functions(db)
    )


def test_locks_of_a_whole_turn_stay_within_the_bound(
    db: Connection, dsn: str, world: World
) -> None:
    """Compile, append and close in one connection, each in a transaction of its own."""
    with psycopg.connect(dsn, autocommit=True) as conn:
        for function, more in (
            ("compile_context", {"p_query": "marked"}),
            ("append_messages", {"p_messages": [{"role": "user", "content": "hello"}]}),
        ):
            for _ in range(8):
                with conn.transaction():
                    call(conn, function, p_user_id=world["user"], p_session_id=world["session"],
                         **more)  # fmt: skip
                    held = value(
                        db,
                        "select count(*) from pg_locks where locktype = 'relation' and pid = %s",
                        [conn.info.backend_pid],
                    )
            assert held <= WARM
