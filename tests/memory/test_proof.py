"""The user's own words in proof of a memory: the rule, and what a model remembers by it."""

from __future__ import annotations

import uuid
from typing import Any

import psycopg
import pytest

from support import append, call, open_session, refused, said, value
from support.proof_pairs import HELD_OUT, OPEN, PAIRS

JUDGE = "select recall._judge_statement(%s, %s, %s)"
Pair = tuple[str, str, str, str | None]


def verdict(db: psycopg.Connection, pair: Pair) -> str | None:
    said, quote, content, _ = pair
    found: str | None = value(db, JUDGE, [quote, content, said])
    return found


@pytest.mark.parametrize("pairs", [OPEN, HELD_OUT], ids=["open", "held out"])
def test_no_pair_is_accepted_falsely_and_most_are_accepted(
    db: psycopg.Connection, pairs: list[Pair]
) -> None:
    found = [(pair, verdict(db, pair)) for pair in pairs]
    assert [(pair, said) for pair, said in found if said not in (None, pair[3])] == []
    wanted = [said == pair[3] for pair, said in found if pair[3] is not None]
    assert sum(wanted) >= 0.9 * len(wanted), [
        pair for pair, said in found if said != pair[3]
    ]  # fmt: skip


def test_there_are_enough_pairs() -> None:
    assert len(PAIRS) >= 60
    assert len(HELD_OUT) * 3 >= len(PAIRS) - 2


@pytest.mark.parametrize(
    ("said", "quote"),
    [
        ("I live in Lyon. " + "And so on. " * 2000, "I live in Lyon"),
        ("I live in Lyon" + " he said" * 12_000, "I live in Lyon" + " he said" * 12_000),
    ],
    ids=["message", "quotation"],
)
def test_long_text_proves_nothing_and_takes_no_time(
    db: psycopg.Connection, said: str, quote: str
) -> None:
    with db.transaction():
        db.execute("set local statement_timeout = '20s'")
        assert verdict(db, (said, quote, quote, None)) is None
        assert verdict(db, ("I live in Lyon", "I live in Lyon", "Lives in Lyon", None)) == "states"


@pytest.mark.parametrize("missing", range(3))
def test_missing_text_proves_nothing(db: psycopg.Connection, missing: int) -> None:
    given: list[str | None] = ["I live in Lyon", "Lives in Lyon", "I live in Lyon"]
    given[missing] = None
    with db.transaction():
        db.execute("set local statement_timeout = '20s'")
        assert value(db, JUDGE, given) is None


# Memories that a model remembers

WORDS = "I am allergic to peanuts"
CONTENT = "User is allergic to peanuts."


def remember_quoted(
    db: psycopg.Connection, user: uuid.UUID, session: uuid.UUID, **more: Any
) -> Any:
    arguments = {"p_user_id": user, "p_content": CONTENT, "p_session_id": session,
                 "p_user_words": WORDS} | more  # fmt: skip
    return call(db, "remember", **arguments)[0]


def stored(db: psycopg.Connection, user: uuid.UUID, made: dict[str, Any]) -> dict[str, Any]:
    (memory,) = call(db, "get_memory", p_user_id=user, p_memory_id=made["memory_id"])
    return memory


def standing(memory: dict[str, Any]) -> tuple[Any, ...]:
    return tuple(memory[key] for key in ("provenance", "source", "tier", "scope"))


THE_USERS = ("user_stated", "conversation", "semantic", "global")
INFERRED = ("system_inferred", "inference", "session", "local")


def test_words_in_a_stored_turn_prove_it(db: psycopg.Connection, user: uuid.UUID) -> None:
    session = open_session(db, user)
    [(turn, *_), _] = append(db, user, session, said(f"By the way, {WORDS}.", "What is new?"))
    made = remember_quoted(db, user, session, p_metadata={"tool": "remember"})
    assert (made["outcome"], made["is_proven"]) == ("added", True)
    memory = stored(db, user, made)
    assert standing(memory) == THE_USERS
    assert memory["source_turn_ids"] == [turn]
    assert memory["metadata"] == {"tool": "remember", "user_words": WORDS}
    assert memory["expires_at"] is None


def test_words_in_the_current_message_alone_prove_it(
    db: psycopg.Connection, user: uuid.UUID
) -> None:
    session = open_session(db, user)
    made = remember_quoted(db, user, session, p_current_message=f"Hello. {WORDS}!")
    assert made["is_proven"] is True
    memory = stored(db, user, made)
    assert (standing(memory), memory["source_turn_ids"]) == (THE_USERS, [])


@pytest.mark.parametrize("words", [None, "", "peanuts", "I love peanuts"])
def test_without_the_users_words_it_is_an_inference_of_the_session(
    db: psycopg.Connection, user: uuid.UUID, words: str | None
) -> None:
    session = open_session(db, user)
    made = remember_quoted(db, user, session, p_user_words=words, p_current_message=f"{WORDS}.")
    assert (made["outcome"], made["is_proven"]) == ("added", False)
    memory = stored(db, user, made)
    assert standing(memory) == INFERRED
    assert (memory["session_id"], memory["metadata"]) == (session, {})
    assert memory["expires_at"] is not None


def test_words_that_deny_it_are_no_proof(db: psycopg.Connection, user: uuid.UUID) -> None:
    session = open_session(db, user)
    denied = "I am not allergic to peanuts"
    made = remember_quoted(db, user, session, p_user_words=denied, p_current_message=f"{denied}.")
    assert (made["is_proven"], standing(stored(db, user, made))) == (False, INFERRED)


def test_no_proof_is_asked_of_other_callers(db: psycopg.Connection, user: uuid.UUID) -> None:
    made = remember_quoted(db, user, open_session(db, user), p_user_words=None)
    assert made["is_proven"] is None
    assert standing(stored(db, user, made)) == ("user_stated", "manual", "semantic", "global")


@pytest.mark.parametrize("role", ["assistant", "tool", "system"])
def test_words_that_the_user_did_not_write_prove_nothing(
    db: psycopg.Connection, user: uuid.UUID, role: str
) -> None:
    session = open_session(db, user)
    more = {"tool_call_id": "call_1"} if role == "tool" else {}
    if role == "tool":
        asked = {"id": "call_1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
        append(db, user, session, [{"role": "assistant", "tool_calls": [asked]}])
    append(db, user, session, said(f"{WORDS}.", role=role, **more))
    assert remember_quoted(db, user, session)["is_proven"] is False


def test_words_of_another_session_or_user_prove_nothing(db: psycopg.Connection) -> None:
    ann, ben = uuid.uuid4(), uuid.uuid4()
    session, other, theirs = open_session(db, ann), open_session(db, ann), open_session(db, ben)
    append(db, ann, other, said(f"{WORDS}."))
    append(db, ben, theirs, said(f"{WORDS}."))
    append(db, ann, session, said("Hello."))  # later, so that the times of the sessions overlap
    assert remember_quoted(db, ann, session)["is_proven"] is False
    with refused("RC001", "no session"):
        remember_quoted(db, ann, theirs)
    assert remember_quoted(db, ben, theirs)["is_proven"] is True
    for user in (ann, ben):
        assert len(call(db, "get_memories", p_user_id=user)) == 1


def test_words_of_a_retracted_turn_prove_nothing(db: psycopg.Connection, user: uuid.UUID) -> None:
    session = open_session(db, user)
    append(db, user, session, said("Hello.", f"{WORDS}."))
    call(db, "retract_turns", p_user_id=user, p_session_id=session, p_from_turn=2)
    assert remember_quoted(db, user, session)["is_proven"] is False


def test_words_of_a_compacted_turn_prove_it(db: psycopg.Connection, user: uuid.UUID) -> None:
    session = open_session(db, user)
    append(db, user, session, said(f"{WORDS}.", "What is new?"))
    db.execute(
        "update recall.sessions set compacted_through_turn = 1 where session_id = %s", [session]
    )
    assert remember_quoted(db, user, session)["is_proven"] is True


def test_words_are_looked_for_in_the_last_fifty_messages_of_the_user(
    db: psycopg.Connection, user: uuid.UUID
) -> None:
    session = open_session(db, user)
    append(db, user, session, said(f"{WORDS}.", *(f"Question {n}" for n in range(49))))
    append(db, user, session, said(*(f"Answer {n}" for n in range(49)), role="assistant"))
    assert remember_quoted(db, user, session)["is_proven"] is True
    append(db, user, session, said("One more"))
    assert remember_quoted(db, user, session)["is_proven"] is False


def test_repeated_call_is_a_duplicate_and_proof_is_kept(
    db: psycopg.Connection, user: uuid.UUID
) -> None:
    session = open_session(db, user)
    first = remember_quoted(db, user, session)
    assert (first["outcome"], first["is_proven"]) == ("added", False)
    append(db, user, session, said(f"{WORDS}."))
    for proven in (True, True, False):  # once proven, it stays the user's word
        again = remember_quoted(db, user, session, p_user_words=WORDS if proven else "")
        assert again == first | {"outcome": "duplicate", "is_proven": proven}
        assert standing(stored(db, user, again)) == THE_USERS


@pytest.mark.parametrize("is_said", [True, False])
def test_only_proven_text_supersedes_what_the_user_said(
    db: psycopg.Connection, user: uuid.UUID, is_said: bool
) -> None:
    session = open_session(db, user)
    kept = remember_quoted(db, user, session, p_content="User lives in Oslo", p_slot="city",
                    p_user_words=None)  # fmt: skip
    message = "I live in Lyon." if is_said else "What is new?"
    made = remember_quoted(
        db, user, session, p_content="User lives in Lyon", p_slot="city",
        p_user_words="I live in Lyon", p_current_message=message,
    )  # fmt: skip
    assert (made["outcome"], made["is_proven"]) == (
        ("superseded", True) if is_said else ("disputed", False)
    )
    assert stored(db, user, kept)["is_active"] is not is_said


@pytest.mark.parametrize(
    ("claimed", "expected"),
    [
        (None, ("user_stated", "conversation", True)),
        ("preference", ("preference", "conversation", True)),
        ("tool_output", ("tool_output", "tool", False)),
        ("system_inferred", ("system_inferred", "inference", False)),
    ],
)
def test_proof_keeps_the_claimed_provenance_and_raises_none(
    db: psycopg.Connection, user: uuid.UUID, claimed: str | None, expected: tuple[Any, ...]
) -> None:
    session = open_session(db, user)
    made = remember_quoted(db, user, session, p_provenance=claimed, p_current_message=f"{WORDS}.")
    memory = stored(db, user, made)
    assert (memory["provenance"], memory["source"], made["is_proven"]) == expected


def test_wrong_input_is_refused_and_writes_nothing(db: psycopg.Connection) -> None:
    user = uuid.uuid4()
    for more in ({}, {"p_user_words": None, "p_current_message": ""}):
        with refused("RC003", "p_session_id is null"):
            remember_quoted(db, user, None, **more)
    with refused("RC001", "no session"):
        remember_quoted(db, user, uuid.uuid4())
    session = open_session(db, user)
    with refused("RC003", "have 100001 characters"):
        remember_quoted(db, user, session, p_user_words="x" * 100_001)
    with refused("RC003", "p_content"):
        remember_quoted(db, user, session, p_content=None)
    with refused("RC003", "p_content"):
        remember_quoted(db, user, session, p_content="x" * 1_000_000)
    with refused("RC003", "p_metadata"):
        remember_quoted(db, user, session, p_metadata=[{}], p_current_message=f"{WORDS}.")
    assert call(db, "get_memories", p_user_id=user) == []
