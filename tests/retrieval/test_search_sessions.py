"""`search_sessions` finds conversations by title, summary and messages."""

from __future__ import annotations

import uuid
from datetime import UTC, datetime, timedelta
from typing import Any

import psycopg
import pytest

from support import append, call, do_job, index_messages, open_session
from support.servers import DIMENSIONS

Connection = psycopg.Connection[Any]
Row = dict[str, Any]


def find(db: Connection, user: uuid.UUID, query: str | None = None, **values: Any) -> list[Row]:
    vector = values.pop("vector", None)
    with db.cursor(row_factory=psycopg.rows.dict_row) as cursor:
        return cursor.execute(
            "select * from recall.search_sessions(p_user_id => %s, p_query => %s, "
            "p_query_embedding => %s::halfvec, p_limit => %s)",
            [user, query, vector, values.pop("limit", 10)],
        ).fetchall()


def session(
    db: Connection, user: uuid.UUID, *texts: str, title: str | None = None, day: int = 1
) -> uuid.UUID:
    found = open_session(db, user, p_title=title)
    at = datetime(2026, 1, day, tzinfo=UTC)
    roles = ("user", "assistant")
    append(
        db,
        user,
        found,
        [
            {"role": roles[n % 2], "content": text, "created_at": str(at + timedelta(minutes=n))}
            for n, text in enumerate(texts)
        ],
    )
    return found


def summarize(
    db: Connection, user: uuid.UUID, where: uuid.UUID, text: str, vector: str | None = None
) -> None:
    """Do the work of a worker whose model answers `text`."""
    call(db, "enqueue_job", p_user_id=user, p_kind="summarize", p_session_id=where,
         p_dedupe_key=str(where))  # fmt: skip
    (job,) = (
        job
        for job in call(db, "claim_jobs", p_worker="test", p_kinds=["summarize"], p_limit=100)
        if job["session_id"] == where
    )
    vectors = {} if vector is None else {"embed": lambda _: vector}
    assert do_job(db, job, {"summarize": {"summary": text}} | vectors)["type"] == "done"


def axis(number: int, other: float = 0.0) -> str:
    numbers = [other / DIMENSIONS**0.5] * DIMENSIONS
    numbers[number] = 1.0
    return str(numbers)


def test_the_last_active_first_without_a_query(db: Connection, user: uuid.UUID) -> None:
    old = session(db, user, "Hello", day=1, title="Old")
    new = session(db, user, "Hello", day=9)
    middle = session(db, user, "Hello", day=5)
    summarize(db, user, middle, "They said hello.")
    for query in (None, "", "   "):
        rows = find(db, user, query)
        assert [row["session_id"] for row in rows] == [new, middle, old]
        assert {row["score"] for row in rows} == {0.0}
        assert [row["summary"] for row in rows] == [None, "They said hello.", None]
        assert rows[2]["title"] == "Old"
    assert [row["session_id"] for row in find(db, user, limit=1)] == [new]
    assert find(db, user, limit=0) == []


def test_title_summary_and_turns_lead_to_a_session(db: Connection, user: uuid.UUID) -> None:
    by_title = session(db, user, "Hello", title="Buying a violin")
    by_summary = session(db, user, "How old is it?", "Very.")
    summarize(db, user, by_summary, "The user has a cello from Cremona.")
    by_turn = session(db, user, "Good morning", "Good morning", "My trumpet fell", "Oh no")
    empty = open_session(db, user)
    index_messages(db)

    assert find(db, user, "violins")[0]["session_id"] == by_title
    assert find(db, user, "the cello")[0]["session_id"] == by_summary
    best = find(db, user, "trumpet")[0]
    assert (best["session_id"], best["turn_index"]) == (by_turn, 3)
    assert (best["role"], best["content"]) == ("user", "My trumpet fell")
    for query in ("violin", "cello trumpet", "zebra"):
        rows = find(db, user, query)
        assert {row["session_id"] for row in rows} == {by_title, by_summary, by_turn, empty}
        assert [row["score"] for row in rows] == sorted((r["score"] for r in rows), reverse=True)
        for row in rows:
            assert row["score"] == pytest.approx(row["topic_part"] + row["turn_part"])
    assert {row["score"] for row in find(db, user, "zebra")} == {0.0}


def test_a_summary_is_found_by_its_meaning(db: Connection, user: uuid.UUID) -> None:
    near = session(db, user, "Hello")
    summarize(db, user, near, "About instruments.", axis(0, 0.1))
    far = session(db, user, "Hello", day=20)
    summarize(db, user, far, "About the weather.", axis(1, 0.1))
    rows = find(db, user, vector=axis(0))
    assert rows[0]["session_id"] == near
    assert rows[0]["similarity"] > 0.9 > rows[1]["similarity"]
    assert find(db, user, "weather", vector=axis(1))[0]["session_id"] == far
    with pytest.raises(psycopg.Error) as refused:
        find(db, user, vector="[1,2,3]")
    assert refused.value.sqlstate == "RC004"


def test_only_the_live_summary_counts(db: Connection, user: uuid.UUID) -> None:
    about = session(db, user, "Hello")
    other = session(db, user, "Hello", title="Weather")
    summarize(db, user, about, "About violins.")
    assert find(db, user, "violins")[0]["session_id"] == about
    append(db, user, about, [{"role": "user", "content": "Hello again"}])
    summarize(db, user, about, "About trumpets.")
    assert {row["score"] for row in find(db, user, "violins")} == {0.0}
    assert find(db, user, "trumpets")[0]["summary"] == "About trumpets."

    child = open_session(db, user, p_parent_session_id=about)
    found = {row["session_id"]: row for row in find(db, user, "trumpets")}
    assert found[child]["topic_part"] == 0.0, "an inherited summary is about its parent"
    assert found[child]["summary"] is None
    assert found[other]["score"] == 0.0


def test_what_was_retracted_leads_nowhere(db: Connection, user: uuid.UUID) -> None:
    found = session(db, user, "Hello", "Hello", "My trumpet fell")
    session(db, user, "Hello there")
    index_messages(db)
    assert find(db, user, "trumpet")[0]["session_id"] == found
    call(db, "retract_turns", p_user_id=user, p_session_id=found, p_from_turn=3)
    assert {row["turn_part"] for row in find(db, user, "trumpet")} == {0.0}


def test_nobody_finds_anothers_sessions(db: Connection, user: uuid.UUID) -> None:
    session(db, user, "My trumpet fell", title="Trumpets")
    index_messages(db)
    stranger = uuid.uuid4()
    assert find(db, stranger, "trumpet") == find(db, stranger) == []
    theirs = session(db, stranger, "Hello")
    assert [row["session_id"] for row in find(db, stranger, "trumpet")] == [theirs]


@pytest.mark.parametrize("query", ["'; drop table x; --", "a & | ! ( :*", "\\ % _ $$", "é🎻"])
def test_any_query_is_answered(db: Connection, user: uuid.UUID, query: str) -> None:
    session(db, user, "My trumpet fell")
    index_messages(db)
    assert len(find(db, user, query)) == 1


def test_a_bad_limit_is_refused_and_nothing_is_written(db: Connection, user: uuid.UUID) -> None:
    session(db, user, "Hello")
    with pytest.raises(psycopg.Error) as refused:
        find(db, user, "x", limit=-1)
    assert refused.value.sqlstate == "RC003"
    with db.transaction():
        db.execute("set transaction read only")
        assert find(db, user, "hello")
