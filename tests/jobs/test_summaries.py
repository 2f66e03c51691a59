"""`settings.summaries` decides who summarizes long sessions, whatever the extraction mode."""

from __future__ import annotations

import uuid
from typing import Any

import psycopg
import pytest
from psycopg.types.json import Jsonb

from support import append, call, do_job, refused, rows, value
from support.contexts import open_counted

Connection = psycopg.Connection[Any]


def configure(db: Connection, user: uuid.UUID, **settings: Any) -> None:
    call(db, "configure_user", p_user_id=user, p_changes=Jsonb(settings))


def jobs(db: Connection, user: uuid.UUID) -> set[str]:
    found = rows(db, "select kind from recall.jobs where user_id = %s", [user])
    return {row["kind"] for row in found} & {"compact", "summarize"}


@pytest.mark.parametrize("extraction", ["llm", "verbatim", "none"])
@pytest.mark.parametrize("summaries", [None, "llm", "none"])
def test_summaries_follow_their_setting_else_extraction(
    db: Connection, user: uuid.UUID, extraction: str, summaries: str | None
) -> None:
    chosen = {} if summaries is None else {"summaries": summaries}
    configure(db, user, extraction=extraction, **chosen)
    is_asked = (summaries or extraction) == "llm"
    session = open_counted(db, user, p_context_window_size=1000, p_max_response_tokens=200)

    append(db, user, session, [{"role": "user", "content": "x", "token_count": 500}])
    assert jobs(db, user) == set(), "below the threshold of 544"
    append(db, user, session, [{"role": "user", "content": "x", "token_count": 2000}])
    assert jobs(db, user) == ({"compact"} if is_asked else set())

    db.execute("delete from recall.jobs")
    call(db, "enqueue_compactions")
    assert jobs(db, user) == ({"compact"} if is_asked else set())
    call(db, "close_session", p_user_id=user, p_session_id=session)
    assert jobs(db, user) == ({"compact", "summarize"} if is_asked else set())


@pytest.mark.parametrize("summaries", ["llm", "none"])
def test_rolling_summaries_are_made_without_any_extraction(
    db: Connection, user: uuid.UUID, summaries: str
) -> None:
    configure(db, user, extraction="none", summaries=summaries, summarize_after_turns=3)
    session = open_counted(db, user)
    for number in range(3):
        assert jobs(db, user) == set()
        append(db, user, session, [{"role": "user", "content": f"{number}"}])
    assert jobs(db, user) == ({"summarize"} if summaries == "llm" else set())


def test_rolling_summaries_are_made_beside_verbatim_extraction(
    db: Connection, user: uuid.UUID
) -> None:
    configure(db, user, extraction="verbatim", summaries="llm", summarize_after_turns=2)
    session = open_counted(db, user)
    append(db, user, session, [{"role": "user", "content": "I live in Oslo"}] * 2)
    assert jobs(db, user) == set()
    (job,) = call(db, "claim_jobs", p_worker="w", p_kinds=["extract:verbatim"])
    assert do_job(db, job)["type"] == "done"
    assert jobs(db, user) == {"summarize"}


@pytest.mark.parametrize("value_given", ["verbatim", "", 1])
def test_another_value_of_summaries_is_refused(
    db: Connection, user: uuid.UUID, value_given: Any
) -> None:
    with refused("RC003", "summaries"):
        configure(db, user, summaries=value_given)


def test_sessions_that_wait_for_a_model_are_counted_and_late_ones_warn(
    db: Connection, user: uuid.UUID
) -> None:
    """health() says nothing where nobody is asked to summarize."""
    waiting = "select o_waiting::int4, o_unasked::int4 from recall._long_sessions()"
    before = db.execute(waiting).fetchone() or (0, 0)
    for summaries in ("none", "llm"):
        configure(db, user, extraction="none", summaries=summaries)
        session = open_counted(db, user, p_context_window_size=1000)
        append(db, user, session, [{"role": "user", "content": "x", "token_count": 2000}])
    configure(db, user, summaries="none")
    assert db.execute(waiting).fetchone() == (before[0] + 2, before[1] + 2)
    configure(db, user, summaries="llm")
    assert db.execute(waiting).fetchone() == (before[0] + 2, before[1])

    def status() -> Any:
        return value(db, "select status from recall.health() where name = 'summaries'")

    assert status() == "ok"
    db.execute("update recall.jobs set created_at = now() - interval '2 hours' where user_id = %s",
               [user])  # fmt: skip
    assert status() == "warn"
    db.execute("delete from recall.jobs where user_id = %s", [user])
    assert status() == "ok"
