"""search_messages: turns by words and meaning, with what the turns around them lend."""

from __future__ import annotations

import uuid
from typing import Any

import psycopg
import pytest
from psycopg.types.json import Jsonb

from support import append, call, index_messages, open_session

Connection = psycopg.Connection[Any]
Row = dict[str, Any]


def find(db: Connection, user: uuid.UUID, query: str, **filters: Any) -> list[Row]:
    limit = filters.pop("limit", 10)
    with db.cursor(row_factory=psycopg.rows.dict_row) as cursor:
        return cursor.execute(
            "select * from recall.search_messages(p_user_id => %s, p_query => %s, "
            "p_limit => %s, p_filter => %s)",
            [user, query, limit, Jsonb(filters)],
        ).fetchall()


def said(*texts: str) -> list[dict[str, Any]]:
    roles = ("user", "assistant")
    return [{"role": roles[n % 2], "content": text} for n, text in enumerate(texts)]


@pytest.fixture
def session(db: Connection, user: uuid.UUID) -> uuid.UUID:
    found = open_session(db, user)
    append(
        db,
        user,
        found,
        said("Where shall we eat?", "The harbor has a good restaurant.", "Which one?", "The Gull.",
             "I bought a violin.", "How nice.", "It is from Cremona.", "Lovely."),
    )  # fmt: skip
    index_messages(db)
    return found


def test_a_turn_is_found_by_its_words(db: Connection, user: uuid.UUID, session: uuid.UUID) -> None:
    rows = find(db, user, "violin")
    assert (rows[0]["content"], rows[0]["role"]) == ("I bought a violin.", "user")
    assert rows[0]["session_id"] == session
    assert rows[0]["turn_index"] == 5
    assert rows[0]["lexical"] > 0
    assert len(rows) == 8, "as many as match, up to the limit"
    assert len(find(db, user, "violin", limit=3)) == 3
    assert find(db, user, "violin", limit=0) == []


def test_the_parts_add_up(db: Connection, user: uuid.UUID, session: uuid.UUID) -> None:
    rows = find(db, user, "restaurant harbor")
    assert [row["score"] for row in rows] == sorted((r["score"] for r in rows), reverse=True)
    for row in rows:
        parts = sum(row[f"{part}_part"] for part in ("own", "neighbor", "session", "memory"))
        assert row["score"] == pytest.approx(parts)
    by_turn = {row["turn_index"]: row for row in rows}
    assert by_turn[1]["neighbor_part"] > by_turn[8]["neighbor_part"], "the turn before the answer"


def test_a_memory_leads_to_the_turns_it_rests_on(
    db: Connection, user: uuid.UUID, session: uuid.UUID
) -> None:
    row = db.execute(
        "select message_id from recall.get_messages(%s, %s) where turn_index = 7", [user, session]
    ).fetchone()
    assert row is not None
    call(
        db,
        "ingest_memories",
        p_user_id=user,
        p_session_id=None,
        p_candidates=[{"content": "Owns an old instrument", "source": "import",
                       "source_turn_ids": [str(row[0])]}],
    )  # fmt: skip
    rows = {r["turn_index"]: r for r in find(db, user, "instrument")}
    assert rows[7]["memory_part"] > 0
    assert all(r["memory_part"] == 0 for turn, r in rows.items() if turn != 7)


def test_filters(db: Connection, user: uuid.UUID, session: uuid.UUID) -> None:
    other = open_session(db, user)
    append(db, user, other, [{"role": "user", "content": "My violin is out of tune.",
                              "created_at": "2025-03-01T10:00:00Z"}])  # fmt: skip
    index_messages(db)
    assert {r["session_id"] for r in find(db, user, "violin")} == {session, other}
    assert {r["session_id"] for r in find(db, user, "violin", session_id=str(other))} == {other}
    assert {r["role"] for r in find(db, user, "violin", roles=["assistant"])} == {"assistant"}
    assert {r["session_id"] for r in find(db, user, "violin", until="2025-04-01")} == {other}
    assert {r["session_id"] for r in find(db, user, "violin", since="2025-04-01")} == {session}


def test_what_was_retracted_is_not_found(
    db: Connection, user: uuid.UUID, session: uuid.UUID
) -> None:
    call(db, "retract_turns", p_user_id=user, p_session_id=session, p_from_turn=5)
    assert {r["turn_index"] for r in find(db, user, "violin")} == {1, 2, 3, 4}


def test_nobody_finds_anothers_turns(db: Connection, user: uuid.UUID, session: uuid.UUID) -> None:
    assert find(db, uuid.uuid4(), "violin") == []
    stranger = uuid.uuid4()
    append(db, stranger, open_session(db, stranger), said("I play the cello."))
    index_messages(db)
    assert [r["content"] for r in find(db, stranger, "violin")] == ["I play the cello."]


@pytest.mark.parametrize(
    "filters",
    [
        {"nonsense": 1},
        {"session_id": "no uuid"},
        {"since": "someday"},
        {"until": 5},
        {"roles": "user"},
        {"roles": ["nobody"]},
        {"limit": -1},
    ],
)
def test_bad_filters_are_refused(db: Connection, user: uuid.UUID, filters: dict[str, Any]) -> None:
    with pytest.raises(psycopg.Error) as refused:
        find(db, user, "violin", **filters)
    assert refused.value.sqlstate == "RC003"


@pytest.mark.parametrize(
    "query", ["", "   ", "'; drop table x; --", "a & | ! ( :*", "\\ % _ $$", "é🎻"]
)
def test_any_query_is_answered(
    db: Connection, user: uuid.UUID, session: uuid.UUID, query: str
) -> None:
    assert len(find(db, user, query)) == 8


def test_a_wrong_vector_is_refused(db: Connection, user: uuid.UUID) -> None:
    with pytest.raises(psycopg.Error) as refused:
        db.execute("select * from recall.search_messages(%s, 'x', '[1,2,3]')", [user])
    assert refused.value.sqlstate == "RC004"


def test_of_very_many_turns_the_likely_ones(db: Connection, user: uuid.UUID) -> None:
    topics = ("harbor", "violin", "garden", "engine", "novel", "glacier", "market", "lantern")
    for part in range(3):
        append(
            db, user, open_session(db, user),
            said(*(f"About the {topics[n // 6]} number {n} of part {part}." for n in range(48))),
        )  # fmt: skip
    index_messages(db)
    exact = find(db, user, "violin", limit=5)
    vector = str([1.0] * 384)
    by_vector = call(
        db, "search_messages", p_user_id=user, p_query="violin", p_query_embedding=vector, p_limit=5
    )
    call(db, "configure_user", p_user_id=user, p_changes={"exact_search_limit": 20})
    likely = find(db, user, "violin", limit=5)
    assert all("violin" in row["content"] for row in exact + likely)
    assert likely[0]["lexical"] == pytest.approx(exact[0]["lexical"], rel=0.01), "same rarity"
    assert len(find(db, user, "violin", limit=500)) == 144
    assert len(find(db, user, "nothing of it", limit=500)) == 144
    assert len(find(db, user, "nothing of it", limit=7)) == 7
    assert {row["role"] for row in find(db, user, "violin", limit=30, roles=["user"])} == {"user"}
    assert len(find(db, user, "violin", limit=500, roles=["user"])) == 72
    assert find(db, user, "violin", until="2000-01-01T00:00:00Z") == []
    session = likely[0]["session_id"]
    found = find(db, user, "violin", limit=500, session_id=str(session))
    assert len(found) == 48
    assert {row["session_id"] for row in found} == {session}
    found = call(
        db, "search_messages", p_user_id=user, p_query="violin", p_query_embedding=vector, p_limit=5
    )
    assert {row["message_id"] for row in found} == {row["message_id"] for row in by_vector}
    assert find(db, uuid.uuid4(), "violin") == []
