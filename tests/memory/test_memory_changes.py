"""Changes of a memory: edits, retractions, undo, decisions, disputes, feedback."""

from __future__ import annotations

import random
import uuid
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import psycopg
import pytest
from psycopg.types.json import Jsonb

from support import call, open_session, raise_errors, refused, rows, together, value
from support.invariants import check_invariants
from support.memories import remember, stored, vector, vectors

Connection = psycopg.Connection[Any]
Connect = Callable[..., Connection]


def active(conn: Connection, user: uuid.UUID) -> list[str]:
    return sorted(row["content"] for row in call(conn, "get_memories", p_user_id=user))


def chain(conn: Connection, user: uuid.UUID, memory: uuid.UUID) -> list[tuple[str, str | None]]:
    found = call(conn, "memory_chain", p_user_id=user, p_memory_id=memory)
    return [(row["content"], row["end_reason"]) for row in found]


def edit(
    conn: Connection, user: uuid.UUID, memory: uuid.UUID, content: str, **changes: Any
) -> uuid.UUID:
    (row,) = call(conn, "supersede_memory", p_user_id=user, p_memory_id=memory,
                  p_content=content, p_changes=changes)  # fmt: skip
    new: uuid.UUID = row["supersede_memory"]
    return new


def retract(conn: Connection, user: uuid.UUID, memory: uuid.UUID) -> bool:
    gone: bool = value(conn, "select recall.retract_memory(%s, %s)", [user, memory])
    return gone


def restore(conn: Connection, user: uuid.UUID, memory: uuid.UUID) -> uuid.UUID:
    new: uuid.UUID = value(conn, "select recall.restore_memory(%s, %s)", [user, memory])
    return new


def decide(
    conn: Connection, user: uuid.UUID, *decisions: dict[str, Any], **more: Any
) -> list[tuple[int, str, uuid.UUID | None, str]]:
    arguments = {"p_user_id": user, "p_session_id": None, "p_decisions": list(decisions)} | more
    found = call(conn, "apply_decisions", **arguments)
    return [(row["ordinal"], row["decision"], row["memory_id"], row["outcome"]) for row in found]


def row_of(conn: Connection, user: uuid.UUID, memory: uuid.UUID) -> dict[str, Any]:
    (row,) = [row for row in stored(conn, user) if row["memory_id"] == memory]
    return row


# Edits


def test_edit_ends_the_old_version_and_its_vector(db: Connection, user: uuid.UUID) -> None:
    session = open_session(db, user)
    old = remember(db, user, "User likes tea", p_provenance="tool_output", p_session_id=session,
                   p_tags=["drinks"], p_metadata={"a": 1}, p_embedding=vector())  # fmt: skip
    new = edit(db, user, old["memory_id"], "User likes coffee", importance=0.9, kind="preference")
    assert chain(db, user, new) == [("User likes tea", "superseded"), ("User likes coffee", None)]
    row = row_of(db, user, new)
    assert (row["kind"], row["tags"], row["metadata"]) == ("preference", ["drinks"], {"a": 1})
    assert row["importance"] == pytest.approx(0.9)
    assert (row["provenance"], row["source"]) == ("correction", "manual"), "a person's word"
    assert (row["tier"], row["scope"], row["is_validated"]) == ("semantic", "global", True)
    assert (row["expires_at"], row["source_session_id"]) == (None, session)
    vectors_ = value(db, "select count(*) from recall.memory_embedding where user_id = %s", [user])
    assert vectors_ == 0, "another text has another vector"
    check_invariants(db)


def test_an_edit_of_what_was_edited_meanwhile(db: Connection, user: uuid.UUID) -> None:
    first = remember(db, user, "Works at Acme", p_slot="employer")["memory_id"]
    edit(db, user, first, "Works at Beta")
    edit(db, user, first, "Works at Gamma")
    assert [text for text, _ in chain(db, user, first)] == [
        "Works at Acme", "Works at Beta", "Works at Gamma",
    ]  # fmt: skip
    assert list(value(db, "select recall.get_profile(%s)", [user])) == ["employer"]
    retract(db, user, row_of(db, user, first)["superseded_by"])
    check_invariants(db)


def test_an_edit_to_the_text_of_another(db: Connection, user: uuid.UUID) -> None:
    one = remember(db, user, "User likes tea")["memory_id"]
    two = remember(db, user, "User likes coffee")["memory_id"]
    assert edit(db, user, one, "user likes COFFEE") == two
    assert active(db, user) == ["User likes coffee"]
    assert edit(db, user, one, "User likes tea") not in (one, two), "an old text comes back anew"
    assert edit(db, user, two, "User likes coffee")
    check_invariants(db)


def test_an_edit_of_all_but_the_text(db: Connection, user: uuid.UUID) -> None:
    one = remember(db, user, "User likes tea", p_embedding=vector(), p_slot="drink",
                   p_expires_at="2999-01-01T00:00:00Z")["memory_id"]  # fmt: skip
    assert edit(db, user, one, "User likes tea") == one, "nothing changes"
    two = edit(db, user, one, "User likes tea", tags=["x"], slot=None, expires_at=None)
    row = row_of(db, user, two)
    assert (row["tags"], row["slot"], row["expires_at"]) == (["x"], None, None)
    assert value(
        db, "select count(*) from recall.memory_embedding where memory_id = %s", [two]
    ) == 1, "an equal text keeps its vector"  # fmt: skip
    three = edit(db, user, two, "User likes TEA", slot="drink", expires_at="2998-01-01T00:00:00Z",
                 review_at="2020-01-01T00:00:00Z")  # fmt: skip
    row = row_of(db, user, three)
    assert (row["content"], row["slot"]) == ("User likes TEA", "drink")
    assert row["expires_at"].year == 2998
    (review,) = call(db, "memories_to_review", p_user_id=user)
    assert review["memory_id"] == three
    check_invariants(db)


def test_an_edit_keeps_the_life_of_what_lives_on_its_own(db: Connection, user: uuid.UUID) -> None:
    session = open_session(db, user)
    holiday = remember(db, user, "User is in Rome", p_expires_at="2999-01-01T00:00:00Z")
    red = remember(
        db, user, "The build is red", p_provenance="tool_output", p_session_id=session
    )  # fmt: skip
    new = row_of(db, user, edit(db, user, holiday["memory_id"], "User is in Oslo"))
    assert new["expires_at"].year == 2999
    new = row_of(db, user, edit(db, user, red["memory_id"], "The build is often red"))
    assert (new["expires_at"], new["tier"]) == (None, "semantic")


def test_an_edit_into_a_slot_that_is_taken(db: Connection, user: uuid.UUID) -> None:
    remember(db, user, "Works at Acme", p_slot="employer")
    other = remember(db, user, "Works at Beta")["memory_id"]
    new = edit(db, user, other, "Works at Gamma", slot="employer")
    assert active(db, user) == ["Works at Gamma"]
    assert [text for text, _ in chain(db, user, new)] == [
        "Works at Acme", "Works at Beta", "Works at Gamma",
    ]  # fmt: skip
    check_invariants(db)


def test_an_edit_with_its_vector(db: Connection, user: uuid.UUID) -> None:
    one = remember(db, user, "User likes tea", p_embedding=vector(0))["memory_id"]
    two = edit(db, user, one, "User likes milk", embedding=vector(90))
    assert value(
        db, "select embedding <=> %s from recall.memory_embedding where memory_id = %s",
        [vector(90), two],
    ) == pytest.approx(0, abs=1e-3)  # fmt: skip


@pytest.mark.parametrize(
    ("content", "changes", "words"),
    [
        ("", {}, "p_content"),
        ("a b", {"kind": "hobby"}, "p_kind"),
        ("a b", {"color": "red"}, "p_color is no key"),
        ("a b", {"content": "c"}, "p_changes"),
        ("a b", {"importance": 2}, "p_importance"),
        ("a b", [], "p_changes"),
    ],
)
def test_a_bad_edit_is_refused(
    db: Connection, user: uuid.UUID, content: str, changes: Any, words: str
) -> None:
    one = remember(db, user, "User likes tea")["memory_id"]
    with refused("RC003", words):
        call(db, "supersede_memory", p_user_id=user, p_memory_id=one, p_content=content,
             p_changes=Jsonb(changes))  # fmt: skip
    assert len(stored(db, user)) == 1


def test_an_edit_of_what_is_gone(db: Connection, user: uuid.UUID) -> None:
    one = remember(db, user, "User likes tea")["memory_id"]
    retract(db, user, one)
    with refused("RC003", "has ended"):
        edit(db, user, one, "User likes coffee")
    with refused("RC001"):
        edit(db, user, uuid.uuid4(), "User likes coffee")


# Retraction and undo


def test_retract_and_restore(db: Connection, user: uuid.UUID) -> None:
    one = remember(db, user, "User likes tea", p_embedding=vector(), p_tags=["a"])["memory_id"]
    value(db, "select recall.retract_memory(%s, %s, 'wrong')", [user, one])
    assert retract(db, user, one) is False, "it had ended"
    assert active(db, user) == []
    two = restore(db, user, one)
    old, new = row_of(db, user, one), row_of(db, user, two)
    assert (old["is_active"], old["end_reason"], old["superseded_by"]) == (False, "retracted", two)
    assert old["ended_at"] < new["created_at"], "as_of stays true"
    assert (new["content"], new["tags"], new["is_active"]) == ("User likes tea", ["a"], True)
    assert value(
        db, "select count(*) from recall.memory_embedding where memory_id = %s", [two]
    ) == 1  # fmt: skip
    with refused("RC003", "is taken"):
        restore(db, user, one)
    with refused("RC003", "is active"):
        restore(db, user, two)
    retract(db, user, two)
    three = restore(db, user, one)
    assert chain(db, user, one) == [
        ("User likes tea", "retracted"), ("User likes tea", "retracted"), ("User likes tea", None),
    ]  # fmt: skip
    history = call(db, "memory_history", p_user_id=user, p_memory_id=three)
    assert [row["event"] for row in history] == [
        "added", "retracted", "followed", "restored", "retracted", "followed", "restored",
    ]  # fmt: skip
    assert history[1]["detail"]["reason"] == "wrong"
    assert {row["caller"] for row in history} == {"postgres"}
    assert [row["at"] for row in history] == sorted(row["at"] for row in history)
    check_invariants(db)


def test_restore_when_text_or_slot_is_taken(db: Connection, user: uuid.UUID) -> None:
    tea = remember(db, user, "User likes tea")["memory_id"]
    acme = remember(db, user, "Works at Acme", p_slot="employer")["memory_id"]
    for memory in (tea, acme):
        retract(db, user, memory)
    remember(db, user, "user likes tea!")
    remember(db, user, "Works at Beta", p_slot="employer")
    with refused("RC003", "the text of"):
        restore(db, user, tea)
    with refused("RC003", "the slot of"):
        restore(db, user, acme)
    with refused("RC001"):
        restore(db, user, uuid.uuid4())


def test_a_merge_is_taken_apart(db: Connection, user: uuid.UUID) -> None:
    old = remember(db, user, "User has a dog", p_embedding=vector())["memory_id"]
    new = remember(db, user, "User has a brown dog", p_embedding=vector(2))
    assert new["outcome"] == "merged"
    back = restore(db, user, old)
    assert active(db, user) == ["User has a brown dog", "User has a dog"]
    assert chain(db, user, old) == [("User has a dog", "merged"), ("User has a dog", None)]
    assert chain(db, user, new["memory_id"]) == [("User has a brown dog", None)]
    assert row_of(db, user, old)["superseded_by"] == back
    check_invariants(db)


def test_an_edit_is_reverted(db: Connection, user: uuid.UUID) -> None:
    one = remember(db, user, "Works at Acme", p_slot="employer")["memory_id"]
    two = edit(db, user, one, "Works at Beta")
    three = restore(db, user, one)
    assert active(db, user) == ["Works at Acme"]
    assert [text for text, _ in chain(db, user, two)] == [
        "Works at Acme", "Works at Beta", "Works at Acme",
    ]  # fmt: skip
    assert row_of(db, user, three)["valid_to"] is None
    check_invariants(db)


def test_an_expired_memory_lives_again(db: Connection, user: uuid.UUID) -> None:
    one = remember(db, user, "User is on holiday", p_expires_at="2020-01-01T00:00:00Z")
    db.execute(
        "update recall.memory_store set ended_at = now(), end_reason = 'expired',"
        " created_at = '2019-12-01', expires_at = '2020-01-01' where memory_id = %s",
        [one["memory_id"]],
    )
    db.execute(
        "update recall.users set active_memory_count = active_memory_count - 1"
        " where user_id = %s", [user],
    )  # fmt: skip
    row = row_of(db, user, restore(db, user, one["memory_id"]))
    assert (row["expires_at"] - row["created_at"]).days == 31
    assert active(db, user) == ["User is on holiday"]
    check_invariants(db)


def test_what_was_revoked_stays_so(db: Connection, user: uuid.UUID) -> None:
    one = remember(db, user, "User likes spam")["memory_id"]
    retract(db, user, one)
    db.execute("update recall.memory_store set end_reason = 'revoked' where memory_id = %s", [one])
    with refused("RC006"):
        restore(db, user, one)


# Decisions


def test_decisions_add_update_and_delete_in_one_job(db: Connection, user: uuid.UUID) -> None:
    session = open_session(db, user)
    acme = remember(db, user, "Works at Acme", p_slot="employer", p_kind="personal",
                    p_tags=["job"])["memory_id"]  # fmt: skip
    rain = remember(db, user, "User likes rain")["memory_id"]
    tea = remember(db, user, "User likes tea")["memory_id"]
    job = uuid.uuid4()
    decisions = [
        {"decision": "ADD", "content": "User likes jazz", "provenance": "user_stated"},
        {"decision": "UPDATE", "target_id": str(acme), "content": "Works at Beta",
         "provenance": "user_stated"},
        {"decision": "DELETE", "target_id": str(rain)},
        {"decision": "NONE", "target_id": str(tea)},
        {"decision": "NONE"},
        {"decision": "ADD", "content": "user likes tea"},
    ]  # fmt: skip
    answer = decide(
        db, user, *decisions, p_session_id=session, p_job_id=job,
        p_embeddings=vectors(vector(0), vector(90), None, None, None, None),
    )  # fmt: skip
    assert [(number, verb, outcome) for number, verb, _, outcome in answer] == [
        (1, "ADD", "added"), (2, "UPDATE", "superseded"), (3, "DELETE", "retracted"),
        (4, "NONE", "none"), (5, "NONE", "none"), (6, "ADD", "duplicate"),
    ]  # fmt: skip
    assert [answer[2][2], answer[3][2], answer[4][2], answer[5][2]] == [rain, tea, None, tea]
    assert active(db, user) == ["User likes jazz", "User likes tea", "Works at Beta"]
    beta = row_of(db, user, answer[1][2] or uuid.UUID(int=0))
    assert (beta["slot"], beta["kind"], beta["tags"]) == ("employer", "personal", ["job"])
    assert (beta["source_session_id"], beta["source"]) == (session, "conversation")

    before = stored(db, user)
    again = decide(db, user, {"decision": "ADD", "content": "Something else"}, p_job_id=job)
    assert again == answer, "applied once"
    assert stored(db, user) == before
    jobs = rows(
        db, "select distinct job_id from recall.memory_events where user_id = %s"
            " and job_id is not null", [user],
    )  # fmt: skip
    assert jobs == [{"job_id": job}]
    check_invariants(db)


def test_a_target_is_followed_to_its_end(db: Connection, user: uuid.UUID) -> None:
    one = remember(db, user, "Works at Acme")["memory_id"]
    edit(db, user, edit(db, user, one, "Works at Beta"), "Works at Gamma")
    decide(db, user, {"decision": "UPDATE", "target_id": str(one), "content": "Works at Delta"})
    assert active(db, user) == ["Works at Delta"]
    (answer,) = decide(db, user, {"decision": "DELETE", "target_id": str(one)})
    assert answer[3] == "retracted"
    assert active(db, user) == []
    (answer,) = decide(db, user, {"decision": "DELETE", "target_id": str(one)})
    assert answer[3] == "none", "there is nothing left to delete"
    (answer,) = decide(
        db, user, {"decision": "UPDATE", "target_id": str(one), "content": "Works at Epsilon"}
    )
    assert answer[3] == "added"
    check_invariants(db)


def test_an_update_to_the_text_of_another(db: Connection, user: uuid.UUID) -> None:
    one = remember(db, user, "User likes tea", p_slot="drink")["memory_id"]
    two = remember(db, user, "User likes coffee")["memory_id"]
    (answer,) = decide(
        db, user, {"decision": "UPDATE", "target_id": str(one), "content": "User likes coffee."}
    )
    assert answer[2:] == (two, "superseded")
    assert row_of(db, user, one)["superseded_by"] == two
    assert row_of(db, user, two)["slot"] == "drink", "the attribute goes with the fact"
    (answer,) = decide(
        db, user, {"decision": "UPDATE", "target_id": str(one), "content": "User likes coffee"}
    )
    assert answer[2:] == (two, "duplicate"), "never a link to itself"
    check_invariants(db)


def test_decisions_that_go_in_circles(db: Connection, user: uuid.UUID) -> None:
    one = remember(db, user, "User likes tea")["memory_id"]
    two = remember(db, user, "User likes coffee")["memory_id"]
    for _ in range(3):
        decide(
            db, user,
            {"decision": "UPDATE", "target_id": str(one), "content": "User likes coffee"},
            {"decision": "UPDATE", "target_id": str(two), "content": "User likes tea"},
        )  # fmt: skip
        assert len(active(db, user)) == 1
        check_invariants(db)


def test_an_update_keeps_the_standing_of_its_target(db: Connection, user: uuid.UUID) -> None:
    one = remember(db, user, "Works at Acme")["memory_id"]
    session = open_session(db, user)
    ((_, _, new, _),) = decide(
        db, user, {"decision": "UPDATE", "target_id": str(one), "content": "Works at Beta",
                   "confidence": "low"},
        p_session_id=session,
    )  # fmt: skip
    row = row_of(db, user, new or uuid.UUID(int=0))
    assert (row["tier"], row["scope"], row["expires_at"]) == ("semantic", "global", None)
    check_invariants(db)


@pytest.mark.parametrize(
    ("decision", "words"),
    [
        ({"content": "a b"}, "decisions[0].decision is missing"),
        ({"decision": "MERGE", "content": "a b"}, "One of ADD, UPDATE, DELETE, ACHIEVE, NONE."),
        ({"decision": "NOOP"}, 'decisions[0].decision is "NOOP"'),
        ({"decision": "ADD", "content": "a b", "provenance": "user"}, "One of user_stated, "),
        ({"decision": "ADD", "content": "a b", "source": "user"}, "One of conversation, "),
        ({"decision": "UPDATE", "content": "a b"}, ".target_id is missing"),
        ({"decision": "DELETE"}, ".target_id is missing"),
        ({"decision": "ADD"}, ".content is missing"),
        ({"decision": "UPDATE", "target_id": "7", "content": "a b"}, ".target_id is"),
        ({"decision": "ADD", "content": "a b", "target": 1}, ".target is no key"),
    ],
)
def test_bad_decisions_are_refused(
    db: Connection, user: uuid.UUID, decision: dict[str, Any], words: str
) -> None:
    with refused("RC003", words):
        decide(db, user, decision)


def test_decisions_are_all_or_nothing(db: Connection, user: uuid.UUID) -> None:
    with refused("RC001"):
        decide(
            db, user, {"decision": "ADD", "content": "User likes jazz"},
            {"decision": "DELETE", "target_id": str(uuid.uuid4())}, p_job_id=uuid.uuid4(),
        )  # fmt: skip
    assert stored(db, user) == []


# Disputes


def test_a_tool_does_not_overrule_the_user(db: Connection, user: uuid.UUID) -> None:
    mine = remember(db, user, "Works at Acme", p_slot="employer")["memory_id"]
    first = remember(db, user, "Works at Evil Corp", p_slot="employer",
                     p_provenance="tool_output", p_embedding=vector())  # fmt: skip
    assert first["outcome"] == "disputed"
    again = remember(db, user, "works at evil corp.", p_slot="employer",
                     p_provenance="system_inferred")  # fmt: skip
    assert again == first, "one dispute, however often it is said"
    decided = decide(
        db, user,
        {"decision": "UPDATE", "target_id": str(mine), "content": "Works nowhere",
         "provenance": "tool_output"},
        {"decision": "DELETE", "target_id": str(mine), "provenance": "tool_output"},
    )  # fmt: skip
    assert [outcome for *_, outcome in decided] == ["disputed", "disputed"]
    assert active(db, user) == ["Works at Acme"]
    assert [row["disputed_content"] for row in call(db, "list_disputes", p_user_id=user)] == [
        "Works at Acme", "Works at Acme",
    ]  # fmt: skip
    as_of = value(db, "select created_at from recall.memory_store where memory_id = %s",
                  [first["memory_id"]])  # fmt: skip
    found = call(db, "get_memories", p_user_id=user, p_as_of=as_of)
    assert [row["content"] for row in found] == ["Works at Acme"], "it was never believed"
    with refused("RC006"):
        restore(db, user, first["memory_id"])
    check_invariants(db)

    call(db, "configure_user", p_user_id=user, p_changes={"protect_user_stated": False})
    allowed = remember(db, user, "Works at Evil Corp", p_slot="employer",
                       p_provenance="tool_output")  # fmt: skip
    assert allowed["outcome"] == "superseded"
    assert call(db, "list_disputes", p_user_id=user) == [], "moot"
    check_invariants(db)


@pytest.mark.parametrize("accept", [True, False])
def test_resolve_dispute_by_a_person_ends_one_side(
    db: Connection, user: uuid.UUID, accept: bool
) -> None:
    mine = remember(db, user, "Works at Acme", p_slot="employer")["memory_id"]
    theirs = remember(db, user, "Works at Beta", p_slot="employer", p_provenance="tool_output",
                      p_embedding=vector())["memory_id"]  # fmt: skip
    arguments = {"p_user_id": user, "p_memory_id": theirs}
    with refused("RC003"):
        call(db, "resolve_dispute", **arguments, p_accept=None)
    stands = call(db, "resolve_dispute", **arguments, p_accept=accept)[0]["resolve_dispute"]
    assert call(db, "list_disputes", p_user_id=user) == []
    with refused("RC003"):
        call(db, "resolve_dispute", **arguments, p_accept=accept)
    dispute, standing = row_of(db, user, theirs), row_of(db, user, stands)
    if accept:
        assert active(db, user) == ["Works at Beta"]
        assert (standing["provenance"], standing["tier"]) == ("correction", "semantic")
        assert row_of(db, user, mine)["superseded_by"] == stands
        assert (dispute["end_reason"], dispute["superseded_by"]) == ("superseded", stands)
        true_then = call(db, "get_memories", p_user_id=user,
                         p_filter={"valid_at": dispute["observed_at"].isoformat()})  # fmt: skip
        assert [row["memory_id"] for row in true_then] == [stands], "the claim is not there twice"
        assert value(
            db, "select count(*) from recall.memory_embedding where memory_id = %s", [stands]
        ) == 1  # fmt: skip
    else:
        assert stands == mine
        assert active(db, user) == ["Works at Acme"]
        assert (dispute["end_reason"], dispute["superseded_by"]) == ("retracted", None)
    check_invariants(db)


# A person's or an agent's word


def test_validate_and_reinforce(db: Connection, user: uuid.UUID) -> None:
    one = remember(db, user, "User likes tea", p_provenance="system_inferred")["memory_id"]
    arguments = {"p_user_id": user, "p_memory_id": one}
    for _ in range(2):
        call(db, "reinforce_memory", **arguments, p_useful=False)
    row = row_of(db, user, one)
    assert row["confidence"] == pytest.approx(0.32)
    assert row["importance"] == pytest.approx(0.32)
    assert [r["memory_id"] for r in call(db, "memories_to_review", p_user_id=user)] == [one]
    assert call(db, "validate_memory", **arguments) == [{"validate_memory": True}]
    row = row_of(db, user, one)
    assert (row["is_validated"], row["tier"], row["review_at"]) == (True, "session", None)
    assert row["confidence"] == pytest.approx(0.9)
    for _ in range(3):
        call(db, "reinforce_memory", **arguments, p_useful=True)
    row = row_of(db, user, one)
    assert (row["access_count"], row["relevance_accumulator"]) == (4, 4.0)
    assert not row["promotion_due"], "what was inferred never rises by use"
    assert row["confidence"] <= 1
    with refused("RC003"):
        call(db, "reinforce_memory", **arguments, p_useful=None)
    retract(db, user, one)
    assert call(db, "validate_memory", **arguments) == [{"validate_memory": False}]
    assert call(db, "reinforce_memory", **arguments, p_useful=True) == [{"reinforce_memory": False}]
    check_invariants(db)


def test_a_goal_is_achieved(db: Connection, user: uuid.UUID) -> None:
    goal = remember(db, user, "User wants to run", p_kind="goal", p_importance=0.9)["memory_id"]
    fact = remember(db, user, "User likes tea")["memory_id"]
    for _ in range(2):
        assert value(db, "select recall.achieve_goal(%s, %s)", [user, goal]) is True
    row = row_of(db, user, goal)
    assert row["importance"] == pytest.approx(0.2)
    assert "achieved_at" in row["metadata"]
    assert row["is_active"]
    with refused("RC003", "not a goal"):
        value(db, "select recall.achieve_goal(%s, %s)", [user, fact])


def test_a_decision_achieves_a_goal(db: Connection, user: uuid.UUID) -> None:
    """The new memory is stored; the goal stays, with little importance, achieved once."""
    goal = remember(db, user, "User wants to run a marathon", p_kind="goal", p_importance=0.9)
    said = {"decision": "ACHIEVE", "target_id": str(goal["memory_id"]),
            "provenance": "user_stated"}  # fmt: skip
    (answer,) = decide(db, user, said | {"content": "User ran a marathon in Oslo"})
    assert (answer[1], answer[3]) == ("ACHIEVE", "added")
    assert active(db, user) == ["User ran a marathon in Oslo", "User wants to run a marathon"]
    row = row_of(db, user, goal["memory_id"])
    assert row["importance"] == pytest.approx(0.2)
    assert (row["kind"], row["is_active"], row["review_at"]) == ("goal", True, None)
    assert row_of(db, user, answer[2])["importance"] == pytest.approx(0.5)
    decide(db, user, said | {"content": "User has a medal of the marathon"})
    assert row_of(db, user, goal["memory_id"]) == row
    events = call(db, "memory_history", p_user_id=user, p_memory_id=goal["memory_id"])
    assert [(event["event"], event["detail"].get("decision")) for event in events] == [
        ("added", None), ("achieved", "ACHIEVE")]  # fmt: skip
    check_invariants(db)


@pytest.mark.parametrize("target", ["fact", "ended", "protected", "stranger"])
def test_a_decision_achieves_only_an_active_goal(
    db: Connection, user: uuid.UUID, target: str
) -> None:
    """Otherwise it is an addition; of a goal in the user's words a tool has no say."""
    owner = uuid.uuid4() if target == "stranger" else user
    goal = remember(db, owner, "User wants to run a marathon", p_importance=0.9,
                    p_kind="fact" if target == "fact" else "goal")["memory_id"]  # fmt: skip
    if target == "ended":
        call(db, "retract_memory", p_user_id=user, p_memory_id=goal)
    before = row_of(db, owner, goal)
    said = {"decision": "ACHIEVE", "target_id": str(goal), "content": "User ran a marathon",
            "provenance": "tool_output" if target == "protected" else "user_stated"}  # fmt: skip
    if target == "stranger":
        with refused("RC001"):
            decide(db, user, said)
    else:
        (answer,) = decide(db, user, said)
        assert answer[3] == "added"
        assert "User ran a marathon" in active(db, user)
    assert row_of(db, owner, goal) == before
    events = call(db, "memory_history", p_user_id=owner, p_memory_id=goal)
    assert ("disputed" in [event["event"] for event in events]) == (target == "protected")


def test_an_achievement_names_its_goal(db: Connection, user: uuid.UUID) -> None:
    with refused("RC003", "target_id is missing"):
        decide(db, user, {"decision": "ACHIEVE", "content": "User ran a marathon"})


def test_feedback_feeds_relevance(db: Connection, user: uuid.UUID) -> None:
    one = remember(db, user, "User likes tea")["memory_id"]
    feedback = {"p_user_id": user, "p_memory_id": one}
    for useful, relevance in ((False, 0), (True, 1), (True, 2), (False, 1), (False, 0), (False, 0)):
        call(db, "reinforce_memory", **feedback, p_useful=useful)
        assert row_of(db, user, one)["relevance_accumulator"] == relevance
    assert row_of(db, user, one)["access_count"] == 2, "of no use is no access"
    events = call(db, "memory_history", p_user_id=user, p_memory_id=one)
    assert [e["detail"]["useful"] for e in events if e["event"] == "reinforced"] == [
        False, True, True, False, False, False
    ]  # fmt: skip
    check_invariants(db)


def test_kinds_and_candidates_say_when_to_review(db: Connection, user: uuid.UUID) -> None:
    kind = f"plan_{uuid.uuid4().hex[:8]}"
    call(db, "register_kind", p_kind=kind, p_description="A plan", p_review_after=timedelta(days=9))
    plan = remember(db, user, "Plans to move", p_kind=kind)["memory_id"]
    row = row_of(db, user, plan)
    assert row["review_at"] - row["created_at"] == timedelta(days=9)
    assert row_of(db, user, remember(db, user, "Likes tea")["memory_id"])["review_at"] is None
    given = call(db, "ingest_memories", p_user_id=user, p_session_id=None, p_candidates=[
        {"content": "Is on leave", "review_at": "2020-01-02T00:00:00Z"},
        {"content": "Is ill", "review_at": "2020-01-01T00:00:00Z"},
    ])  # fmt: skip
    due = [row["memory_id"] for row in call(db, "memories_to_review", p_user_id=user)]
    assert due == [given[1]["memory_id"], given[0]["memory_id"]], "longest due first"

    db.execute("update recall.memory_store set review_at = now() where memory_id = %s", [plan])
    call(db, "validate_memory", p_user_id=user, p_memory_id=plan)
    row = row_of(db, user, plan)
    assert row["review_at"] - row["updated_at"] == timedelta(days=9), "and again after that time"
    retract(db, user, plan)
    restored = value(db, "select recall.restore_memory(%s, %s)", [user, plan])
    row = row_of(db, user, restored)
    assert row["review_at"] - row["created_at"] == timedelta(days=9)
    edited = value(db, "select recall.supersede_memory(%s, %s, 'Moves in May', %s)",
                   [user, restored, Jsonb({"review_at": None})])  # fmt: skip
    assert row_of(db, user, edited)["review_at"] is None

    run_out = given[0]["memory_id"]
    db.execute("update recall.memory_store set expires_at = now() where memory_id = %s", [run_out])
    due = [row["memory_id"] for row in call(db, "memories_to_review", p_user_id=user)]
    assert due == [given[1]["memory_id"]]
    with refused("RC003"):
        call(db, "register_kind", p_kind=kind, p_description="x", p_review_after=timedelta(0))
    with refused("RC003"):
        call(db, "ingest_memories", p_user_id=user, p_session_id=None,
             p_candidates=[{"content": "Is back", "review_at": "soon"}])  # fmt: skip
    db.execute("delete from recall.memory_kinds where kind = %s", [kind])


def test_an_achieved_goal_is_not_asked_for_again(db: Connection, user: uuid.UUID) -> None:
    goal = remember(db, user, "User wants to run", p_kind="goal")["memory_id"]
    db.execute("update recall.memory_store set review_at = now() where memory_id = %s", [goal])
    call(db, "achieve_goal", p_user_id=user, p_memory_id=goal)
    assert call(db, "memories_to_review", p_user_id=user) == []


@pytest.mark.parametrize("swept", [True, False])
def test_what_has_run_out_is_restored(db: Connection, user: uuid.UUID, swept: bool) -> None:
    """Whether or not the sweep has come by, with a life as long as before."""
    one = remember(db, user, "User likes tea")["memory_id"]
    db.execute(
        "update recall.memory_store set created_at = now() - interval '90 days', "
        "expires_at = now() - interval '1 day', access_count = 3, "
        "last_accessed_at = now() - interval '60 days' where memory_id = %s",
        [one],
    )
    if swept:
        db.execute("select recall.expire_memories()")
    restored = value(db, "select recall.restore_memory(%s, %s)", [user, one])
    old, row = row_of(db, user, one), row_of(db, user, restored)
    assert (old["end_reason"], old["superseded_by"]) == ("expired", restored)
    assert row["is_active"]
    assert row["expires_at"] - row["created_at"] == timedelta(days=89)
    assert row["last_accessed_at"] == row["created_at"], "a touch, so that it does not fade at once"
    db.execute("select recall.expire_memories()")
    db.execute("select recall.decay_memories()")
    assert row_of(db, user, restored)["is_active"]
    check_invariants(db)


# Everything at once


@pytest.mark.concurrent
def test_opposite_supersessions_leave_one_memory_active(
    db: Connection, connect: Connect, user: uuid.UUID
) -> None:
    connections = [connect(), connect()]
    for round_ in range(10):
        one = remember(db, user, f"User likes tea {round_} times")["memory_id"]
        two = remember(db, user, f"User likes coffee {round_} times")["memory_id"]
        changes = [(one, f"User likes coffee {round_} times"),
                   (two, f"User likes tea {round_} times")]  # fmt: skip
        raise_errors(
            together(
                lambda conn=conn, change=change: edit(conn, user, *change)
                for conn, change in zip(connections, changes, strict=True)
            )
        )
        assert len([text for text in active(db, user) if f" {round_} times" in text]) == 1
    check_invariants(db)


@pytest.mark.concurrent
def test_one_fact_superseded_from_many_sides(
    db: Connection, connect: Connect, user: uuid.UUID
) -> None:
    one = remember(db, user, "Works at Acme", p_slot="employer")["memory_id"]
    connections = [connect() for _ in range(6)]
    raise_errors(
        together(
            lambda conn=conn, n=n: edit(conn, user, one, f"Works at company {n}")
            for n, conn in enumerate(connections)
        )
    )
    assert len(active(db, user)) == 1
    assert len(chain(db, user, one)) == 7, "one won, the others followed the chain"
    check_invariants(db)


TEXTS = [f"User likes {drink}" for drink in ("tea", "green tea", "tea with milk", "coffee")]


def change_something(conn: Connection, user: uuid.UUID, chance: random.Random) -> None:
    memory = chance.choice([row["memory_id"] for row in stored(conn, user)] or [uuid.uuid4()])
    text = chance.choice(TEXTS)
    slot = chance.choice([None, None, "drink"])
    late = vector(chance.choice([0, 80]))
    work = chance.choice(
        [
            lambda: remember(conn, user, text, p_slot=slot),
            lambda: remember(conn, user, text, p_slot=slot, p_embedding=late),
            lambda: remember(conn, user, text, p_slot=slot, p_provenance="tool_output"),
            lambda: edit(conn, user, memory, text, slot=slot),
            lambda: retract(conn, user, memory),
            lambda: restore(conn, user, memory),
            lambda: decide(
                conn, user, {"decision": "UPDATE", "target_id": str(memory), "content": text}
            ),
            lambda: decide(conn, user, {"decision": "DELETE", "target_id": str(memory)}),
            lambda: call(
                conn, "add_embedding", p_user_id=user, p_memory_id=memory, p_embedding=late,
                p_model=None,
            ),
            lambda: call(
                conn, "resolve_dispute", p_user_id=user, p_memory_id=memory,
                p_accept=chance.random() < 0.5,
            ),
        ]
    )  # fmt: skip
    work()


@pytest.mark.concurrent
def test_concurrent_changes_of_a_few_facts_keep_the_invariants(
    db: Connection, connect: Connect, user: uuid.UUID
) -> None:
    """While six writers change a few facts, the invariants hold and every call returns."""
    connections = [connect() for _ in range(6)]

    def write(number: int) -> list[str]:
        chance = random.Random(number)
        unexpected = []
        for _ in range(60):
            try:
                change_something(connections[number], user, chance)
            except psycopg.Error as error:
                if error.sqlstate not in ("RC001", "RC003", "RC006"):
                    unexpected.append(f"{error.sqlstate} {error}")
        return unexpected

    results = together(lambda number=number: write(number) for number in range(6))
    raise_errors(results)
    assert [error for result in results for error in result] == []
    check_invariants(db)


@pytest.mark.parametrize("change", ["supersede", "retract", "expire", "repeat"])
def test_a_memory_never_ends_before_it_was_created(
    db: Connection, user: uuid.UUID, change: str
) -> None:
    """The clock was set back in between: it was created in what is the future now."""
    memory = remember(db, user, "lives in Oslo", p_slot="home", p_embedding=vector(1))["memory_id"]
    db.execute("update recall.memory_store set created_at = now() + interval '1 day',"
               " updated_at = now() + interval '1 day', check_at = now(),"
               " expires_at = case when %s then now() end where user_id = %s",
               [change == "expire", user])  # fmt: skip
    ids = {"p_user_id": user, "p_memory_id": memory}
    if change == "supersede":
        call(db, "supersede_memory", **ids, p_content="lives in Rome")
    elif change == "repeat":
        remember(db, user, "lives in Rome", p_slot="home", p_embedding=vector(2))
    elif change == "retract":
        call(db, "retract_memory", **ids)
    else:
        call(db, "expire_memories")
    (row,) = rows(db, "select created_at, ended_at from recall.memory_store"
                      " where user_id = %s and memory_id = %s", [user, memory])  # fmt: skip
    assert row["ended_at"] is not None
    assert row["ended_at"] >= row["created_at"]
    assert active(db, user) == (["lives in Rome"] if change in ("supersede", "repeat") else [])
