"""The confidence of a user's statement decides in which sessions its memory is visible."""

from __future__ import annotations

import uuid
from datetime import timedelta
from typing import Any

import psycopg
import pytest

from support import append, call, open_session, rows, said
from support.memories import stored, unit, vector, vectors

JAZZ = "User may like jazz."


@pytest.fixture
def user() -> uuid.UUID:
    return uuid.uuid4()


def spoken(db: psycopg.Connection, user: uuid.UUID) -> tuple[uuid.UUID, str]:
    """Open a session in which the user said something; return it and the message's id."""
    session = open_session(db, user)
    append(db, user, session, said("I suppose jazz is all right", f"Turn {uuid.uuid4()}"))
    (first, *_) = call(db, "get_messages", p_user_id=user, p_session_id=session)
    return session, str(first["message_id"])


def learn(
    db: psycopg.Connection, user: uuid.UUID, session: uuid.UUID, turn: str, content: str = JAZZ,
    confidence: str = "low", embedding: str | None = None, **more: Any,
) -> str:  # fmt: skip
    """Store what an extraction found in a turn of the user; return the outcome."""
    candidate = {"content": content, "confidence": confidence, "source": "conversation",
                 "provenance": "user_stated", "source_turn_ids": [turn], **more}  # fmt: skip
    given = {} if embedding is None else {"p_embeddings": vectors(embedding)}
    (row,) = call(db, "ingest_memories", p_user_id=user, p_session_id=session,
                  p_candidates=[candidate], **given)  # fmt: skip
    return str(row["outcome"])


def found(db: psycopg.Connection, user: uuid.UUID, session: uuid.UUID) -> list[str]:
    """Return what a search in a session finds of jazz."""
    hits = call(db, "search", p_user_id=user, p_query="jazz",
                p_filter={"session_id": str(session)})  # fmt: skip
    return [str(hit["content"]) for hit in hits]


def packed(db: psycopg.Connection, user: uuid.UUID, session: uuid.UUID) -> bool:
    """Return whether a session's context speaks of jazz."""
    (row,) = call(db, "compile_context", p_user_id=user, p_session_id=session,
                  p_query="Which jazz?")  # fmt: skip
    return any(JAZZ in str(message["content"]) for message in row["compile_context"]["messages"])


@pytest.mark.parametrize(
    ("confidence", "tier", "lasts", "everywhere"),
    [("high", "semantic", None, True), ("medium", "episodic", timedelta(days=90), True),
     ("low", "session", timedelta(days=31), False)],
)  # fmt: skip
def test_confidence_decides_in_which_sessions_a_memory_is_found(
    db: psycopg.Connection,
    user: uuid.UUID,
    confidence: str,
    tier: str,
    lasts: timedelta | None,
    everywhere: bool,
) -> None:
    """Medium is known in every session for a while, low in its own alone."""
    here, turn = spoken(db, user)
    there, _ = spoken(db, user)
    learn(db, user, here, turn, confidence=confidence)
    (memory,) = stored(db, user)
    assert memory["tier"] == tier
    assert (memory["expires_at"] is None) == (lasts is None)
    if lasts is not None:
        assert abs(memory["expires_at"] - memory["created_at"] - lasts) < timedelta(days=2)
    assert found(db, user, here) == [JAZZ]
    assert packed(db, user, here)
    assert found(db, user, there) == [JAZZ] * everywhere
    assert packed(db, user, there) == everywhere


def test_medium_counts_for_less_than_high(db: psycopg.Connection, user: uuid.UUID) -> None:
    session, turn = spoken(db, user)
    for confidence in ("medium", "high"):
        learn(db, user, session, turn, f"User likes jazz, {confidence}.", confidence)
    assert found(db, user, session) == ["User likes jazz, high.", "User likes jazz, medium."]


def test_a_kind_keeps_its_shorter_life(db: psycopg.Connection, user: uuid.UUID) -> None:
    call(db, "register_kind", p_kind="mood", p_description="How the user feels.",
         p_lifetime=timedelta(days=2))  # fmt: skip
    session, turn = spoken(db, user)
    learn(db, user, session, turn, confidence="medium", kind="mood")
    (memory,) = stored(db, user)
    assert memory["expires_at"] - memory["created_at"] == timedelta(days=2)


@pytest.mark.parametrize("confidence", ["low", "medium", "high"])
def test_said_again_elsewhere_is_known_everywhere(
    db: psycopg.Connection, user: uuid.UUID, confidence: str
) -> None:
    """A doubtful fact rises when another turn says it, doubtfully or surely."""
    here, turn = spoken(db, user)
    there, other_turn = spoken(db, user)
    third, _ = spoken(db, user)
    learn(db, user, here, turn)
    assert learn(db, user, there, other_turn, confidence=confidence) == "duplicate"
    (memory,) = stored(db, user)
    assert (memory["tier"], memory["scope"], memory["session_id"]) == (
        "semantic" if confidence == "high" else "episodic", "global", None)  # fmt: skip
    assert {str(item) for item in memory["source_turn_ids"]} == {turn, other_turn}
    assert found(db, user, third) == [JAZZ]


def test_in_other_words_too(db: psycopg.Connection, user: uuid.UUID) -> None:
    """Whichever text stays, it is known everywhere."""
    here, turn = spoken(db, user)
    there, other_turn = spoken(db, user)
    third, _ = spoken(db, user)
    learn(db, user, here, turn, "User may like jazz.", embedding=unit(0))
    outcome = learn(db, user, there, other_turn, "User may like jazz a lot.", embedding=vector(5))
    assert outcome == "merged"
    assert found(db, user, third) == ["User may like jazz a lot."]


def test_the_same_turn_confirms_nothing(db: psycopg.Connection, user: uuid.UUID) -> None:
    """A job that is done twice does not make a fact surer."""
    here, turn = spoken(db, user)
    there, _ = spoken(db, user)
    for _ in range(3):
        learn(db, user, here, turn)
    (memory,) = stored(db, user)
    assert memory["tier"] == "session"
    assert found(db, user, there) == []


def test_another_user_confirms_nothing(db: psycopg.Connection, user: uuid.UUID) -> None:
    here, turn = spoken(db, user)
    there, _ = spoken(db, user)
    learn(db, user, here, turn, embedding=unit(0))
    other = uuid.uuid4()
    elsewhere, other_turn = spoken(db, other)
    learn(db, other, elsewhere, other_turn, embedding=unit(0))
    assert [item["tier"] for item in (*stored(db, user), *stored(db, other))] == ["session"] * 2
    assert found(db, user, there) == []


def test_repetition_by_a_tool_confirms_nothing(db: psycopg.Connection, user: uuid.UUID) -> None:
    """Its word neither raises a doubtful fact of another session nor disappears into it."""
    here, turn = spoken(db, user)
    there, _ = spoken(db, user)
    learn(db, user, here, turn, embedding=unit(0))
    call(db, "ingest_memories", p_user_id=user, p_session_id=there,
         p_candidates=[{"content": "User may like jazz a lot.", "source": "tool"}],
         p_embeddings=vectors(vector(5)))  # fmt: skip
    assert found(db, user, here) == [JAZZ]
    assert found(db, user, there) == ["User may like jazz a lot."]


def test_where_every_tier_is_earned_by_use(db: psycopg.Connection, user: uuid.UUID) -> None:
    """The strict form: repetition is a use like any other."""
    here, turn = spoken(db, user)
    there, other_turn = spoken(db, user)
    call(db, "configure_user", p_user_id=user, p_changes={"extracted_tier": "session"})
    learn(db, user, here, turn, confidence="medium")
    learn(db, user, there, other_turn, confidence="medium")
    (memory,) = stored(db, user)
    assert (memory["tier"], memory["access_count"]) == ("session", 1)


@pytest.mark.parametrize("source", ["conversation", "tool"])
def test_validating_confirms_what_the_user_said(
    db: psycopg.Connection, user: uuid.UUID, source: str
) -> None:
    here, turn = spoken(db, user)
    there, _ = spoken(db, user)
    learn(db, user, here, turn, source=source)
    (memory,) = stored(db, user)
    call(db, "validate_memory", p_user_id=user, p_memory_id=memory["memory_id"])
    (after,) = stored(db, user)
    assert after["is_validated"]
    assert after["confidence"] == pytest.approx(0.9)
    assert after["tier"] == ("episodic" if source == "conversation" else "session")
    assert found(db, user, there) == [JAZZ] * (source == "conversation")


def test_a_doubtful_fact_replaces_no_attribute(db: psycopg.Connection, user: uuid.UUID) -> None:
    """It stands beside what is known; once it is said surely, it replaces that."""
    session, turn = spoken(db, user)
    _, other_turn = spoken(db, user)
    learn(db, user, session, turn, "User lives in Lyon.", "high", slot="home_city")
    learn(db, user, session, turn, "User lives in Porto.", "low", slot="home_city")
    (row,) = call(db, "get_profile", p_user_id=user)
    assert row["get_profile"]["home_city"]["content"] == "User lives in Lyon."
    learn(db, user, session, other_turn, "User lives in Porto.", "high", slot="home_city")
    active = rows(db, "select content from recall.memory_store where user_id = %s and is_active",
                  [user])  # fmt: skip
    assert active == [{"content": "User lives in Porto."}]


def test_what_the_first_sessions_bring_is_to_be_reviewed(
    db: psycopg.Connection, user: uuid.UUID
) -> None:
    """Those of the installation, whoever's they are; not what is remembered by hand."""
    spoken(db, uuid.uuid4())
    here, turn = spoken(db, user)
    known = rows(db, "select count(*) as n from recall.sessions")[0]["n"]
    there, other_turn = spoken(db, user)
    call(db, "configure", p_changes={"review_first_sessions": known})
    try:
        learn(db, user, here, turn, "User likes early jazz.", "high")
        learn(db, user, there, other_turn, "User likes late jazz.", "high")
        call(db, "remember", p_user_id=user, p_content="User likes jazz by hand.")
    finally:
        call(db, "configure", p_changes={"review_first_sessions": 0})
    learn(db, user, here, turn, "User likes jazz at all times.", "high")
    due = call(db, "memories_to_review", p_user_id=user)
    assert [row["content"] for row in due] == ["User likes early jazz."]
